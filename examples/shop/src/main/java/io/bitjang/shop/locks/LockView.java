// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.locks;

import io.bitjang.DistLock;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LocalLock;
import io.bitjang.admin.LockAdmin;
import io.bitjang.admin.LockFilter;
import io.bitjang.shop.nodes.Node;
import io.bitjang.spring.web.EditLockSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** All locks, as the operator sees them. Thread-safe. */
@Component
class LockView {

    /** What kind of lock it is: the type in its name tells, here. */
    enum Kind {
        EDIT,
        LEASE,
        OWNER,
        SESSION
    }

    /** What is known of it. */
    enum State {
        HELD,
        EXPIRED,
        FREE
    }

    /**
     * A row of the page.
     *
     * @param renewed when it was last prolonged, or granted; null where that is not known
     * @param waiters of this process
     * @param wanted whether another process waits
     */
    record Row(
            LockName name,
            Kind kind,
            State state,
            @Nullable String holder,
            @Nullable Instant since,
            @Nullable Instant renewed,
            @Nullable Duration expiresIn,
            long fence,
            int waiters,
            boolean wanted,
            @Nullable String note) {

        public boolean mayBeTakenAway() {
            return state == State.HELD && kind != Kind.SESSION;
        }
    }

    /** What the operator wants to see. */
    record Wanted(
            @Nullable String state,
            @Nullable String type,
            @Nullable String id,
            @Nullable String owner) {}

    private record Seen(long fence, Instant renewed) {}

    private static final int MOST = 200;

    private final LockAdmin admin;
    private final EditLockSettings editLocks;
    private final Map<LockName, Seen> seen = new ConcurrentHashMap<>();

    LockView(LockAdmin admin, EditLockSettings editLocks) {
        this.admin = admin;
        this.editLocks = editLocks;
    }

    List<Row> rows(Wanted wanted) {
        LockFilter.State state = state(wanted.state());
        LockFilter filter = LockFilter.all().in(state).limit(MOST);
        if (wanted.type() != null) {
            filter = filter.ofType(wanted.type());
        }
        if (wanted.id() != null) {
            filter = filter.idContaining(wanted.id());
        }
        if (wanted.owner() != null) {
            filter = filter.ownedBy(wanted.owner());
        }
        List<LocalLock> here = admin.here();
        Map<LockName, LocalLock> leases = here.stream()
                .filter(lock -> lock.kind() == LocalLock.Kind.LEASE)
                .collect(Collectors.toMap(LocalLock::name, Function.identity()));
        List<LockData> table = admin.list(filter);
        List<Row> rows = new ArrayList<>();
        table.forEach(data -> rows.add(row(data, leases.get(data.name()))));
        if (state == LockFilter.State.HELD || state == LockFilter.State.ANY) {
            here.stream()
                    .filter(lock -> lock.kind() == LocalLock.Kind.SESSION && matches(lock, wanted))
                    .forEach(lock -> rows.add(session(lock)));
        }
        seen.keySet().removeIf(name -> seen.size() > 10 * MOST);
        return rows;
    }

    static LockFilter.State state(@Nullable String wanted) {
        if (wanted == null) {
            return LockFilter.State.HELD;
        }
        for (LockFilter.State each : LockFilter.State.values()) {
            if (each.name().equalsIgnoreCase(wanted)) {
                return each;
            }
        }
        return LockFilter.State.HELD;
    }

    private Row row(LockData data, @Nullable LocalLock here) {
        State state = data.held() ? State.HELD : data.isExpired() ? State.EXPIRED : State.FREE;
        return new Row(
                data.name(),
                kind(data),
                state,
                data.owner(),
                data.acquiredAt(),
                state == State.FREE ? null : renewed(data),
                data.held() ? data.remaining() : null,
                data.fence(),
                here == null ? 0 : here.waiters(),
                data.held() && data.wanted(),
                withoutTab(data.note()));
    }

    private Kind kind(LockData data) {
        if (editLocks.types().contains(data.type())) {
            return Kind.EDIT;
        }
        return data.type().equals(DistLock.TYPE) ? Kind.OWNER : Kind.LEASE;
    }

    /**
     * A renewal makes a lock last for its whole duration from then on, so the expiry tells when that was. Who leaves a page cuts it
     * short: then what was seen before counts.
     */
    private @Nullable Instant renewed(LockData data) {
        Instant granted = data.acquiredAt();
        Instant expiry = data.expiresAt();
        if (granted == null || expiry == null) {
            return null;
        }
        Duration duration =
                kind(data) == Kind.EDIT ? editLocks.lease() : data.name().equals(Node.JOB) ? Node.LEASE : null;
        if (duration == null) {
            return null; // how long it lasts is not known here
        }
        Instant last = expiry.minus(duration);
        Instant told = last.isBefore(granted) ? granted : last;
        Seen now = seen.compute(
                data.name(),
                (name, before) -> before != null
                                && before.fence() == data.fence()
                                && before.renewed().isAfter(told)
                        ? before
                        : new Seen(data.fence(), told));
        return now.renewed();
    }

    private static boolean matches(LocalLock lock, Wanted wanted) {
        return (wanted.type() == null || wanted.type().equals(lock.name().type()))
                && (wanted.id() == null || lock.name().id().contains(wanted.id()))
                && wanted.owner() == null;
    }

    private static Row session(LocalLock lock) {
        Instant since = lock.held() ? Instant.now().minus(lock.heldFor()) : null;
        return new Row(
                lock.name(),
                Kind.SESSION,
                lock.held() ? State.HELD : State.FREE,
                null,
                since,
                null,
                null,
                0,
                lock.waiters(),
                false,
                null);
    }

    /** The id of a browser's tab stands at the end of the note of an edit lock; nobody needs to see it. */
    private static @Nullable String withoutTab(@Nullable String note) {
        String text = note == null ? "" : note.replaceFirst(" ?\\(tab [\\w-]+\\)$", "");
        return text.isEmpty() ? null : text;
    }
}
