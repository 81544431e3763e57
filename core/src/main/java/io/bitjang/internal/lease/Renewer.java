// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease.State;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.Listed;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Callbacks;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Renews all leases of an instance: every third of a lease, in one statement for all that are due, in key order.
 *
 * <p>A renewal has four outcomes. Renewed. Skipped: the row is locked by a transaction, most often the holder's own guard; the
 * lease is at risk, and is tried again alone. Gone: the lease is lost. No answer: unknown, tried again. A failure never ends the
 * renewing. Meanwhile the timer, which never waits for the database, tells those whose deadline passes. Thread-safe.
 */
final class Renewer {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final int BATCH = 1000;
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final String LOCKED = "its row is locked by a transaction";
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

    private final LockStore store;
    private final OwnRow ownRow;
    private final Attempts attempts;
    private final Workers workers;
    private final Events events;

    /** The leases, each with the time of its next renewal. */
    private final Map<LeaseHandle, Long> nextAt = new ConcurrentHashMap<>();

    /** Those whose renewal is with the database. */
    private final Set<LeaseHandle> underWay = ConcurrentHashMap.newKeySet();

    private final Alarm alarm;

    /** What the thread that keeps the time has to tell the listeners: they may take long, and it must not. */
    private final Callbacks toTell = new Callbacks();

    Renewer(LockStore store, OwnRow ownRow, Attempts attempts, Workers workers, Events events) {
        this.store = store;
        this.ownRow = ownRow;
        this.attempts = attempts;
        this.workers = workers;
        this.events = events;
        this.alarm = new Alarm(workers, this::tick);
    }

    void add(LeaseHandle lease) {
        schedule(lease, lease.deadline() - 2 * third(lease));
    }

    void remove(LeaseHandle lease) {
        nextAt.remove(lease);
    }

    List<LeaseHandle> leases() {
        return List.copyOf(nextAt.keySet());
    }

    /** Renews one lease on the caller's thread; what goes wrong is the caller's to know. */
    void renewNow(LeaseHandle lease) {
        Clocks sentAt = Clocks.now();
        long micros = micros(lease, sentAt.ticks());
        for (LockName name : lease.names()) {
            GrantKey key = lease.key(name);
            OwnRow.Result result = attempts.repeatable(
                    name,
                    "could not be renewed",
                    () -> ownRow.attempt(key, false, PATIENCE, () -> store.renew(name, key.secret(), micros)));
            if (result.gone() != null) {
                lease.lose(result.gone());
                throw lease.notHeld();
            }
            if (result.answer().isEmpty()) {
                throw new LockingFailException(name, name + " could not be renewed: " + LOCKED, null);
            }
        }
        confirmed(lease, sentAt, micros);
    }

    /** Whether it is still held, after it was confirmed then, is in doubt: the database is asked now. */
    void ask(LeaseHandle lease, Clocks confirmedAt, String why, Executor telling) {
        if (lease.doubt(State.UNKNOWN, confirmedAt)) {
            telling.execute(() -> events.tell(
                    Kind.UNKNOWN, lease.names(), lease.fence(), lease.request().owner(), why));
        }
        if (nextAt.replace(lease, Ticks.now()) != null) {
            alarm.setTo(Ticks.now());
        }
    }

    private void schedule(LeaseHandle lease, long at) {
        nextAt.put(lease, at);
        alarm.setTo(Math.min(at, lease.deadline()));
    }

    private void tick() {
        try {
            renewDue(Ticks.now());
        } finally {
            setAlarm(Ticks.now());
        }
    }

    private void renewDue(long now) {
        List<LeaseHandle> due = new ArrayList<>();
        List<LeaseHandle> soon = new ArrayList<>();
        for (Map.Entry<LeaseHandle, Long> entry : nextAt.entrySet()) {
            LeaseHandle lease = entry.getKey();
            lease.expireIfDue(news -> toTell.add(workers, news));
            if (!lease.active()) {
                nextAt.remove(lease);
            } else if (!underWay.contains(lease)) {
                long wait = entry.getValue() - now;
                if (wait <= 0) {
                    due.add(lease);
                } else if (wait <= third(lease) / 2) {
                    soon.add(lease);
                }
            }
        }
        if (!due.isEmpty()) {
            due.addAll(soon);
            underWay.addAll(due);
            // one whose row was locked might be so again, and fail a whole batch where the database can't skip it
            due.removeIf(lease -> lease.atRisk() && alone(lease));
            // however many are due at a time, they take two threads and two connections
            workers.execute(() -> renewFrom(due, 0));
            if (due.size() > BATCH) {
                workers.execute(() -> renewFrom(due, BATCH));
            }
        }
    }

    private void setAlarm(long now) {
        long next = Long.MAX_VALUE;
        for (Map.Entry<LeaseHandle, Long> entry : nextAt.entrySet()) {
            long at = underWay.contains(entry.getKey())
                    ? entry.getKey().deadline()
                    : Math.min(entry.getValue(), entry.getKey().deadline());
            next = Math.min(next, at - now);
        }
        if (next != Long.MAX_VALUE) {
            alarm.setTo(now + Math.max(next, SHORTEST_PAUSE));
        }
    }

    /** Every other batch from here on, one after the other. */
    private void renewFrom(List<LeaseHandle> due, int from) {
        if (from < due.size()) {
            try {
                renewBatch(due.subList(from, Math.min(due.size(), from + BATCH)));
            } finally {
                renewFrom(due, from + 2 * BATCH);
            }
        }
    }

    private boolean alone(LeaseHandle lease) {
        workers.execute(() -> renewBatch(List.of(lease)));
        return true;
    }

    private void renewBatch(List<LeaseHandle> batch) {
        Clocks sentAt = Clocks.now();
        List<Listed> rows = new ArrayList<>();
        for (LeaseHandle lease : batch) {
            long micros = micros(lease, sentAt.ticks());
            lease.names().forEach(name -> rows.add(new Listed(name, lease.key().secret(), micros)));
        }
        rows.sort(Comparator.comparing(Listed::name));
        try {
            if (store.renewAll(rows) == rows.size()) {
                batch.forEach(lease -> confirmed(lease, sentAt, micros(lease, sentAt.ticks())));
            } else {
                inspect(batch);
            }
        } catch (DatabaseException e) {
            if (e.meaning() == Meaning.BUSY && batch.size() > 1) {
                batch.forEach(this::renewAlone);
            } else {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "Renewing " + batch.size() + " leases failed, it is tried again",
                        e);
                batch.forEach(lease -> failed(lease, sentAt, e));
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "Renewing " + batch.size() + " leases failed, it is tried again", e);
            batch.forEach(lease -> doubt(lease, State.UNKNOWN, sentAt, e.toString()));
        } finally {
            underWay.removeAll(batch);
            batch.stream()
                    .filter(nextAt::containsKey)
                    .forEach(lease -> alarm.setTo(nextAt.getOrDefault(lease, sentAt.ticks())));
        }
    }

    private void renewAlone(LeaseHandle lease) {
        Clocks sentAt = Clocks.now();
        long micros = micros(lease, sentAt.ticks());
        try {
            for (LockName name : lease.names()) {
                if (store.renew(name, lease.key().secret(), micros).isEmpty()) {
                    inspect(List.of(lease));
                    return;
                }
            }
            confirmed(lease, sentAt, micros);
        } catch (DatabaseException e) {
            failed(lease, sentAt, e);
        }
    }

    /** Not all rows were renewed: which ones, and why not? */
    private void inspect(List<LeaseHandle> batch) {
        Clocks sentAt = Clocks.now();
        Map<LockName, LockRow> rows = store.read(batch.stream()
                .flatMap(lease -> lease.names().stream())
                .distinct()
                .toList());
        for (LeaseHandle lease : batch) {
            Duration least = lease.request().duration();
            @Nullable String gone = null;
            for (LockName name : lease.names()) {
                @Nullable LockRow row = rows.get(name);
                gone = gone != null ? gone : OwnRow.whyGone(row, lease.key());
                least = row == null || row.remaining().compareTo(least) > 0 ? least : row.remaining();
            }
            if (gone != null) {
                lease.lose(gone);
                continue;
            }
            long asked = TimeUnit.MICROSECONDS.toNanos(micros(lease, sentAt.ticks()));
            // one that was skipped has two thirds left, and a little more if the grant took its time
            if (least.toNanos() > asked / 4 * 3) {
                confirmed(lease, sentAt, TimeUnit.NANOSECONDS.toMicros(least.toNanos()));
            } else {
                doubt(lease, State.AT_RISK, sentAt, LOCKED);
            }
        }
    }

    private void confirmed(LeaseHandle lease, Clocks sentAt, long micros) {
        boolean newest = lease.confirm(sentAt, TimeUnit.MICROSECONDS.toNanos(micros));
        if (newest && nextAt.containsKey(lease)) {
            boolean last = maxHoldEnds(lease) - sentAt.ticks() <= TimeUnit.MICROSECONDS.toNanos(micros);
            schedule(lease, last ? lease.deadline() : sentAt.ticks() + third(lease));
            events.tell(
                    Kind.RENEWED, lease.names(), lease.fence(), lease.request().owner(), null);
        }
        // the host may have been suspended while the answer was on its way
        lease.expireIfDue();
    }

    private void failed(LeaseHandle lease, Clocks sentAt, DatabaseException e) {
        if (e.meaning() == Meaning.BUSY) {
            doubt(lease, State.AT_RISK, sentAt, LOCKED);
        } else {
            doubt(lease, State.UNKNOWN, sentAt, e.getMessage());
        }
    }

    private void doubt(LeaseHandle lease, State state, Clocks sentAt, @Nullable String detail) {
        if (lease.doubt(state, sentAt)) {
            Kind kind = state == State.AT_RISK ? Kind.AT_RISK : Kind.UNKNOWN;
            events.tell(kind, lease.names(), lease.fence(), lease.request().owner(), detail);
        }
        if (nextAt.containsKey(lease)) {
            schedule(lease, Ticks.now() + Math.max(SOON, third(lease) / 6));
        }
    }

    /** How long the next renewal asks for: the lease's duration, cut at its maximum hold. */
    private static long micros(LeaseHandle lease, long now) {
        long nanos = Math.min(lease.request().duration().toNanos(), maxHoldEnds(lease) - now);
        return Math.max(1, TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    private static long maxHoldEnds(LeaseHandle lease) {
        Duration maxHold = lease.request().maxHold();
        return maxHold == null ? Ticks.now() + Long.MAX_VALUE / 2 : lease.acquiredAt() + maxHold.toNanos();
    }

    private static long third(LeaseHandle lease) {
        return Math.max(1, lease.request().duration().toNanos() / 3);
    }
}
