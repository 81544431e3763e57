// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease.State;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.ListedRow;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Callbacks;
import io.bitjang.internal.work.Log;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
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

    private static final int BATCH = 1000;
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final String NOT_RENEWED = "could not be renewed";
    private static final String LOCKED = "its row is locked by a transaction";
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

    private final Instance instance;
    private final Driver driver;
    private final LockStore store;
    private final HeldRow heldRow;
    private final HeldLeases held;
    private final Ticker ticker;

    /** The leases whose renewal is with the database. */
    private final Set<LeaseHandle> underWay = ConcurrentHashMap.newKeySet();

    private final Alarm alarm;

    /** What the thread that keeps the time has to tell the listeners: they may take long, and it must not. */
    private final Callbacks toTell;

    Renewer(Instance instance, HeldRow heldRow, HeldLeases held) {
        this.instance = instance;
        this.driver = instance.driver;
        this.store = instance.store;
        this.heldRow = heldRow;
        this.held = held;
        this.ticker = instance.ticker;
        this.alarm = driver.alarm(this::tick);
        this.toTell = new Callbacks(driver::callBack);
        toTell.begin();
    }

    /** Keeps a lease from now on, and renews it until it is given back or lost. */
    void add(LeaseHandle lease) {
        long at = lease.deadline() - 2 * third(lease);
        held.add(lease, at);
        alarm.setTo(Math.min(at, lease.deadline()));
    }

    /** Renews one lease for its holder, who is told what goes wrong. */
    Plan<Boolean> renewNow(LeaseHandle lease) {
        return Plan.later(() -> {
            Clocks sentAt = ticker.clocks();
            long micros = micros(lease, sentAt.ticks());
            return Plan.all(lease.names(), name -> renewNow(lease, name, micros))
                    .map(renewed -> {
                        confirmed(lease, sentAt, micros);
                        return renewed;
                    });
        });
    }

    private Plan<Boolean> renewNow(LeaseHandle lease, LockName name, long micros) {
        GrantKey key = lease.key(name);
        return heldRow.repeatable(
                        name,
                        NOT_RENEWED,
                        heldRow.attempt(key, false, PATIENCE, store.renew(name, key.secret(), micros)))
                .then(result -> result.answer().isPresent()
                        ? Plan.of(true)
                        : result.gone() != null
                                ? Plan.of(notRenewed(lease, name, result.gone()))
                                : heldRow.repeatable(name, NOT_RENEWED, store.read(lease.names()))
                                        .map(rows -> notRenewed(lease, name, whyGone(lease, rows))));
    }

    /** Throws the reason why a lock could not be renewed: whichever row was locked, another of the lease's may be gone. */
    private static boolean notRenewed(LeaseHandle lease, LockName name, @Nullable Gone gone) {
        if (gone != null) {
            lease.lose(gone);
            throw lease.notHeld("");
        }
        throw new LockingFailException(name, name + " " + NOT_RENEWED + ": " + LOCKED, null);
    }

    /** Says why a lease is not held any more, by the rows of its locks; null if it is. */
    private static @Nullable Gone whyGone(LeaseHandle lease, Map<LockName, LockRow> rows) {
        List<Gone> reasons = lease.names().stream()
                .map(name -> Gone.of(rows.get(name), lease.key()))
                .filter(Objects::nonNull)
                .toList();
        return reasons.isEmpty() ? null : Gone.mostTelling(reasons);
    }

    /** Asks the database at once whether a lease is still held, because that has come into doubt since it was confirmed. */
    void ask(LeaseHandle lease, Clocks confirmedAt, String why, Executor telling) {
        if (lease.doubt(State.UNKNOWN, confirmedAt)) {
            telling.execute(() -> instance.tell(Kind.UNKNOWN, lease, why));
        }
        schedule(lease, ticker.now());
    }

    /** Sets the time of the next renewal of a lease, if it is still kept. */
    private void schedule(LeaseHandle lease, long at) {
        if (held.renewAt(lease, at)) {
            alarm.setTo(Math.min(at, lease.deadline()));
        }
    }

    private void tick() {
        try {
            renewDue(ticker.now());
        } finally {
            setAlarm(ticker.now());
        }
    }

    private void renewDue(long now) {
        List<LeaseHandle> due = new ArrayList<>();
        List<LeaseHandle> soon = new ArrayList<>();
        for (Map.Entry<LeaseHandle, Long> entry : held.renewals()) {
            LeaseHandle lease = entry.getKey();
            lease.expireIfDue(toTell::add);
            if (!lease.active()) {
                held.remove(lease);
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
            driver.start(renewFrom(due, 0));
            if (due.size() > BATCH) {
                driver.start(renewFrom(due, BATCH));
            }
        }
    }

    private void setAlarm(long now) {
        long next = Long.MAX_VALUE;
        for (Map.Entry<LeaseHandle, Long> entry : held.renewals()) {
            long at = underWay.contains(entry.getKey())
                    ? entry.getKey().deadline()
                    : Math.min(entry.getValue(), entry.getKey().deadline());
            next = Math.min(next, at - now);
        }
        if (next != Long.MAX_VALUE) {
            alarm.setTo(now + Math.max(next, SHORTEST_PAUSE));
        }
    }

    /** Renews every other batch from this index on, one after the other. */
    private Plan<@Nullable Void> renewFrom(List<LeaseHandle> due, int from) {
        return from < due.size()
                ? renewBatch(due.subList(from, Math.min(due.size(), from + BATCH)))
                        .then(done -> renewFrom(due, from + 2 * BATCH))
                : Plan.DONE;
    }

    private boolean alone(LeaseHandle lease) {
        driver.start(renewBatch(List.of(lease)));
        return true;
    }

    private Plan<@Nullable Void> renewBatch(List<LeaseHandle> batch) {
        return Plan.later(() -> {
            Clocks sentAt = ticker.clocks();
            return Plan.halved(batch, this::renewAtOnce).ended((renewed, failure) -> ended(batch, sentAt, failure));
        });
    }

    private Plan<Boolean> renewAtOnce(List<LeaseHandle> batch) {
        return Plan.later(() -> {
            Clocks sentAt = ticker.clocks();
            return store.renewAll(rows(batch, sentAt))
                    .then(renewed -> renewed == rowsOf(batch) ? confirmed(batch, sentAt) : inspect(batch))
                    .ifFailed(e -> e.meaning() == Meaning.BUSY && rowsOf(batch) > 1
                            ? Plan.all(batch, this::renewAlone)
                            : Plan.failed(e));
        });
    }

    private List<ListedRow> rows(List<LeaseHandle> batch, Clocks sentAt) {
        return batch.stream()
                .flatMap(lease -> lease.names().stream()
                        .map(name -> new ListedRow(name, lease.key().secret(), micros(lease, sentAt.ticks()))))
                .sorted(Comparator.comparing(ListedRow::name))
                .toList();
    }

    private static int rowsOf(List<LeaseHandle> batch) {
        return batch.stream().mapToInt(lease -> lease.names().size()).sum();
    }

    /** Ends the renewal of a batch, whatever came of it and whatever is thrown on the way: it is under way no more. */
    private void ended(List<LeaseHandle> batch, Clocks sentAt, @Nullable Throwable failure) {
        try {
            if (failure != null) {
                batch.forEach(lease -> failed(lease, sentAt, failure));
                Log.warn("Renewing " + batch.size() + " leases failed, it is tried again", failure);
            }
        } catch (Throwable e) {
            // the next round tells; the batches after this one must be renewed
        } finally {
            underWay.removeAll(batch);
            batch.stream().map(held::renewAt).filter(Objects::nonNull).forEach(alarm::setTo);
        }
    }

    private Plan<Boolean> renewAlone(LeaseHandle lease) {
        return Plan.later(() -> {
            Clocks sentAt = ticker.clocks();
            long micros = micros(lease, sentAt.ticks());
            return Plan.all(
                            lease.names(),
                            name -> store.renew(name, lease.key().secret(), micros)
                                    .map(OptionalLong::isPresent))
                    .then(renewed -> renewed ? confirmed(List.of(lease), sentAt) : inspect(List.of(lease)))
                    // one that is locked may keep the others of a group from being looked at
                    .ifFailed(e -> e.meaning() == Meaning.BUSY ? inspect(List.of(lease)) : Plan.failed(e))
                    .ifFailed(e -> {
                        failed(lease, sentAt, e);
                        return Plan.of(true);
                    });
        });
    }

    private Plan<Boolean> confirmed(List<LeaseHandle> batch, Clocks sentAt) {
        batch.forEach(lease -> confirmed(lease, sentAt, micros(lease, sentAt.ticks())));
        return Plan.of(true);
    }

    /** Finds out which rows of a batch were not renewed, and why not. */
    private Plan<Boolean> inspect(List<LeaseHandle> batch) {
        return Plan.later(() -> {
            Clocks sentAt = ticker.clocks();
            return store.read(batch.stream().flatMap(lease -> lease.names().stream()))
                    .map(rows -> {
                        batch.forEach(lease -> inspect(lease, sentAt, rows));
                        return true;
                    });
        });
    }

    private void inspect(LeaseHandle lease, Clocks sentAt, Map<LockName, LockRow> rows) {
        @Nullable Gone gone = whyGone(lease, rows);
        if (gone != null) {
            lease.lose(gone);
            return;
        }
        Duration least = lease.request().duration();
        for (LockName name : lease.names()) {
            Duration left = Objects.requireNonNull(rows.get(name)).remaining();
            least = left.compareTo(least) < 0 ? left : least;
        }
        long asked = TimeUnit.MICROSECONDS.toNanos(micros(lease, sentAt.ticks()));
        // one that was skipped has two thirds left, and a little more if the grant took its time
        if (least.toNanos() > asked / 4 * 3) {
            confirmed(lease, sentAt, TimeUnit.NANOSECONDS.toMicros(least.toNanos()));
        } else {
            doubt(lease, State.AT_RISK, sentAt, LOCKED);
        }
    }

    private void confirmed(LeaseHandle lease, Clocks sentAt, long micros) {
        boolean newest = lease.confirm(sentAt, TimeUnit.MICROSECONDS.toNanos(micros));
        if (newest && held.renewAt(lease) != null) {
            boolean last = maxHoldEnds(lease) - sentAt.ticks() <= TimeUnit.MICROSECONDS.toNanos(micros);
            schedule(lease, last ? lease.deadline() : sentAt.ticks() + third(lease));
            instance.tell(Kind.RENEWED, lease, null);
        }
        // the host may have been suspended while the answer was on its way
        lease.expireIfDue();
    }

    private void failed(LeaseHandle lease, Clocks sentAt, Throwable e) {
        if (e instanceof DatabaseException known && known.meaning() == Meaning.BUSY) {
            doubt(lease, State.AT_RISK, sentAt, LOCKED);
        } else {
            doubt(lease, State.UNKNOWN, sentAt, e instanceof DatabaseException ? e.getMessage() : e.toString());
        }
    }

    private void doubt(LeaseHandle lease, State state, Clocks sentAt, @Nullable String detail) {
        if (lease.doubt(state, sentAt)) {
            Kind kind = state == State.AT_RISK ? Kind.AT_RISK : Kind.UNKNOWN;
            instance.tell(kind, lease, detail);
        }
        schedule(lease, ticker.now() + Math.max(SOON, third(lease) / 6));
    }

    /** Returns for how many microseconds the next renewal asks: the lease's duration, cut at its maximum hold. */
    private long micros(LeaseHandle lease, long now) {
        long nanos = Math.min(lease.request().duration().toNanos(), maxHoldEnds(lease) - now);
        return Math.max(1, TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    private long maxHoldEnds(LeaseHandle lease) {
        Duration maxHold = lease.request().maxHold();
        return maxHold == null ? ticker.now() + Long.MAX_VALUE / 2 : lease.acquiredAt() + maxHold.toNanos();
    }

    private static long third(LeaseHandle lease) {
        return Math.max(1, lease.request().duration().toNanos() / 3);
    }
}
