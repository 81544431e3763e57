// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Log;
import io.bitjang.spi.LockEvent.Kind;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Tells the listeners what came of attempts, and writes take-overs into the audit trail. Thread-safe. */
final class Trail {

    private final LockStore store;
    private final Events events;
    private final boolean audited;

    Trail(LockStore store, Events events, boolean audited) {
        this.store = store;
        this.events = events;
        this.audited = audited;
    }

    /** Tells what came of an attempt, name by name. */
    Plan<Boolean> tell(List<LockName> names, Request request, ClaimResult answer) {
        if (!answer.granted()) {
            LockRow holder = answer.holder();
            events.tell(
                    Kind.REFUSED,
                    names,
                    0,
                    request.owner(),
                    holder == null || !holder.held() ? null : holder.toString());
            return Plan.of(false);
        }
        if (!answer.takenOver()) {
            events.tell(
                    answer.reentered() ? Kind.REENTERED : Kind.ACQUIRED, names, answer.fence(), request.owner(), null);
            return Plan.of(true);
        }
        Plan<Set<LockName>> takenOver = names.size() == 1 ? Plan.of(Set.copyOf(names)) : takenOver(names);
        return takenOver.then(those -> Plan.all(names, name -> {
            boolean over = those.contains(name);
            events.tell(over ? Kind.TAKEN_OVER : Kind.ACQUIRED, List.of(name), answer.fence(), request.owner(), null);
            return over && audited ? audit(name, answer.fence(), null) : Plan.of(true);
        }));
    }

    /** Reads which of several locks had expired in the hands of others: the answer does not tell, the rows do. */
    private Plan<Set<LockName>> takenOver(List<LockName> names) {
        return store.read(names)
                .map(rows -> rows.values().stream()
                        .filter(row -> row.takenFrom() != null)
                        .map(LockRow::name)
                        .collect(Collectors.toSet()))
                .ifFailed(e -> {
                    Log.warn("From whom " + names + " were taken could not be read", e);
                    return Plan.of(Set.of());
                });
    }

    /** Writes down that a lock was taken over. */
    Plan<Boolean> audit(LockName name, long fence, @Nullable String reason) {
        return store.admin()
                .auditTakeOver(name, fence, reason)
                .map(written -> true)
                .ifFailed(e -> {
                    Log.warn("The take-over of " + name + " could not be written down", e);
                    return Plan.of(true);
                });
    }
}
