// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Answer;
import io.bitjang.internal.sql.Claim;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.Listed;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Events;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * How a lease is given back: to the next in this process's queue if there is one, in one statement; otherwise to everybody. What
 * can't be given back now, because the database fails or an open transaction has the row locked, is given back later. Thread-safe.
 */
final class Releases {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    /** How long closing waits for a row that another's statement has locked, before it goes on in the background. */
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private static final Duration ONE_SECOND = Duration.ofSeconds(1);

    private final LeaseEngine engine;
    private final LockStore store;
    private final OwnRow ownRow;
    private final Attempts attempts;
    private final Waiting waiting;
    private final LateReleases late;
    private final Events events;

    Releases(LeaseEngine engine, Waiting waiting, LateReleases late, Events events) {
        this.engine = engine;
        this.store = engine.store;
        this.ownRow = engine.ownRow;
        this.attempts = engine.attempts;
        this.waiting = waiting;
        this.late = late;
        this.events = events;
    }

    void release(LeaseHandle lease) {
        long notFreeBefore = notFreeBefore(lease);
        try {
            if (notFreeBefore > 0) {
                leaveTaken(lease, notFreeBefore);
            } else if (engine.isClosed() || !handOver(lease)) {
                giveBack(lease);
            }
        } catch (NoLockException lost) {
            throw lost;
        } catch (IllegalStateException e) {
            if (!engine.isClosed()) {
                putOff(lease, notFreeBefore, e.getMessage());
            }
            // closed while it was handed over: the one who got it has given it back
        } catch (RuntimeException e) {
            // whatever it is, the holder has done with the lock: it must not stay taken
            LOG.log(
                    System.Logger.Level.WARNING,
                    lease.name() + " could not be given back, it is tried again until the lease has ended: "
                            + e.getMessage());
            putOff(lease, notFreeBefore, e.getMessage());
        }
    }

    /** How long after it was taken it must stay taken, if that time is not over yet; 0 if it is. In microseconds. */
    private static long notFreeBefore(LeaseHandle lease) {
        Duration minimum = lease.request().notFreeBefore();
        return minimum != null && Ticks.now() - lease.acquiredAt() < minimum.toNanos() ? Limits.micros(minimum) : 0;
    }

    /** Gives back all of these in as few statements as the database allows, until then; says what was left. */
    void releaseAll(List<LeaseHandle> leases, Deadline end) {
        leases.forEach(lease -> late.keep(lease.names(), lease.key().secret(), left(lease), notFreeBefore(lease)));
        late.drain(end);
    }

    /** Frees a lock that has no handle, at once or not at all. */
    void releaseNow(GrantKey key, @Nullable String owner) {
        AtomicBoolean unknown = new AtomicBoolean();
        OwnRow.Result result = attempts.repeatable(key.name(), "could not be released", () -> {
            try {
                return ownRow.attempt(
                        key, true, ONE_SECOND, () -> store.release(key.name(), key.secret(), engine.waits(key.name())));
            } catch (DatabaseException e) {
                unknown.compareAndSet(false, e.meaning() == Meaning.UNKNOWN);
                throw e;
            }
        });
        // after an answer that never came, "gone" is what was wanted
        if (result.gone() != null && !unknown.get()) {
            throw OwnRow.notHeld(key, result.gone());
        }
        if (result.gone() == null && result.answer().isEmpty()) {
            throw OwnRow.stayedLocked(key, "released");
        }
        events.tell(Kind.RELEASED, List.of(key.name()), key.fence(), owner, null);
        waiting.freed(List.of(key.name()), Answer.wanted(result.answer()));
    }

    /** A lease that may not be free yet is left to expire at the right time, under an id that nobody has. */
    private void leaveTaken(LeaseHandle lease, long micros) {
        for (LockName name : lease.names()) {
            ended(
                    lease,
                    name,
                    ownRow.attempt(
                            lease.key(name),
                            true,
                            PATIENCE,
                            () -> store.releaseAt(name, lease.key().secret(), micros)));
        }
        released(lease);
    }

    /** The next in the queue gets it, unless its row is pinned or others must get their turn. */
    private boolean handOver(LeaseHandle lease) {
        WaitQueue queue = waiting.queueFor(lease.names());
        if (queue == null || lease.names().size() > 1) {
            return false;
        }
        LeaseWaiter next = queue.turn.goesOn(waiting.wantedByOtherQueues(queue)) ? queue.next() : null;
        if (next == null) {
            return false;
        }
        Run run = lease.run();
        if (run != null && mayPassOn(lease, run, next.request)) {
            LeaseHandle handed = engine.passedOn(lease, run, next.request);
            queue.turn.handedOver(false);
            released(lease);
            handedTo(next, handed);
            return true;
        }
        int reserve = queue.reserveFor(next);
        Claim claim = next.request.claim(GrantKey.newSecret(), reserve);
        Clocks sentAt = Clocks.now();
        Answer answer = handOver(lease, claim);
        if (!answer.granted()) {
            return false;
        }
        queue.turn.handedOver(answer.wanted());
        released(lease);
        LeaseHandle handed = engine.granted(lease.names(), next.request, new Attempts.Outcome(answer, sentAt));
        if (reserve > 0) {
            beginRun(handed);
        }
        handedTo(next, handed);
        return true;
    }

    /** It may pass on from hand to hand for a while; then the table is told who has it. */
    void beginRun(LeaseHandle first) {
        Run run = new Run(first);
        first.joins(run);
        settleSoon(run, null);
    }

    private void settleSoon(Run run, @Nullable LeaseHandle ended) {
        engine.workers.after(2 * Run.LONGEST.toNanos(), () -> engine.workers.execute(() -> settle(run, ended)));
    }

    /** Until it is known, or the lease has ended and did not pass on after all. */
    private void settle(Run run, @Nullable LeaseHandle ended) {
        LeaseHandle lease = run.holder;
        lease.leavesRun();
        boolean active = lease.active();
        boolean settled = lease == ended;
        try {
            settled |= active && store.settle(lease.name(), lease.key().secret(), lease.fence());
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.DEBUG, lease.name() + ": its fence could not be written down", e);
        }
        if (!settled) {
            settleSoon(run, active ? null : lease);
        }
    }

    /** Only where nothing is lost by it: the next one asks for the same, and most of the lease is left. */
    private static boolean mayPassOn(LeaseHandle lease, Run run, Request next) {
        long left = lease.deadline() - Ticks.now();
        return lease.request().passesOnTo(next)
                && !lease.mayHaveSlept()
                && left > next.duration().toNanos() / 2
                && run.goesOn();
    }

    private void handedTo(LeaseWaiter next, LeaseHandle handed) {
        events.tell(Kind.HANDED_OVER, handed.names(), handed.fence(), next.request.owner(), null);
        if (!next.serve(handed)) {
            handed.closeUnwanted();
        }
    }

    private Answer handOver(LeaseHandle lease, Claim claim) {
        try {
            return store.handOver(lease.name(), lease.key().secret(), claim);
        } catch (DatabaseException e) {
            if (e.meaning() != Meaning.UNKNOWN) {
                return Answer.refused(null);
            }
            // resolved first: a late release under way would take it from the one it is handed to
            try {
                Optional<LockRow> row = store.resolve(lease.name(), claim.secret());
                if (row.isPresent()) {
                    return Answer.of(row.get(), claim);
                }
            } catch (DatabaseException unresolved) {
                late.add(lease.names(), claim.secret(), claim.micros());
                throw unresolved;
            }
            late.add(lease.names(), claim.secret(), claim.micros());
            return Answer.refused(null);
        }
    }

    private void giveBack(LeaseHandle lease) {
        String secret = lease.key().secret();
        List<LockName> names = lease.names();
        int together = names.size() > 1 ? releaseTogether(lease) : 0;
        boolean othersWait = false;
        for (LockName name : together == names.size() ? List.<LockName>of() : names) {
            boolean wantedAgain = engine.waits(name);
            OwnRow.Result result =
                    ownRow.attempt(lease.key(name), true, PATIENCE, () -> store.release(name, secret, wantedAgain));
            othersWait |= Answer.wanted(result.answer());
            if (result.gone() != null && together > 0) {
                // one of those that were freed together; another may have it by now
                together--;
            } else {
                ended(lease, name, result);
            }
        }
        released(lease);
        waiting.freed(names, othersWait);
    }

    /** How many were released in one statement: a locked row is skipped, or fails it as a whole. */
    private int releaseTogether(LeaseHandle lease) {
        try {
            List<Listed> rows = lease.names().stream()
                    .map(name -> new Listed(name, lease.key().secret(), 0))
                    .toList();
            return store.releaseAll(rows);
        } catch (DatabaseException e) {
            if (e.meaning() == Meaning.BUSY || e.meaning() == Meaning.REPEAT) {
                return 0;
            }
            throw e;
        }
    }

    /** Says so if the lease turned out to be lost, or its row stayed locked. */
    private static void ended(LeaseHandle lease, LockName name, OwnRow.Result result) {
        if (result.gone() != null) {
            throw lease.loseAtRelease(result.gone());
        }
        if (result.answer().isEmpty()) {
            throw new LockingFailException(name, "its row is locked by an open transaction", null);
        }
    }

    private void released(LeaseHandle lease) {
        events.tell(Kind.RELEASED, lease.names(), lease.fence(), lease.request().owner(), null);
    }

    /** How long it may last at most, as far as is known here. */
    private static Duration left(LeaseHandle lease) {
        long known = Math.max(0, lease.deadline() - Ticks.now());
        return Duration.ofNanos(known).plus(lease.request().duration());
    }

    private void putOff(LeaseHandle lease, long notFreeBefore, @Nullable String why) {
        late.addHeld(lease.names(), lease.key().secret(), left(lease), notFreeBefore);
        events.tell(
                Kind.RELEASE_FAILED,
                lease.names(),
                lease.fence(),
                lease.request().owner(),
                why);
    }
}
