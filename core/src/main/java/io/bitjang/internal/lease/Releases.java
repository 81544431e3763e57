// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Claim;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.ListedRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.work.Log;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Gives leases back: to the next in this process's queue if there is one, in one statement; otherwise to everybody. What can't be
 * given back now, because the database fails or an open transaction has the row locked, is given back later. Thread-safe.
 */
final class Releases {

    /** How long closing waits for a row that another's statement has locked, before it goes on in the background. */
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private static final Duration ONE_SECOND = Duration.ofSeconds(1);

    private final Instance instance;
    private final LockStore store;
    private final HeldRow heldRow;
    private final Grants grants;
    private final PassingOn passingOn;
    private final WaitQueues waiting;
    private final LateReleases late;

    Releases(
            Instance instance,
            HeldRow heldRow,
            Grants grants,
            PassingOn passingOn,
            WaitQueues waiting,
            LateReleases late) {
        this.instance = instance;
        this.store = instance.store;
        this.heldRow = heldRow;
        this.grants = grants;
        this.passingOn = passingOn;
        this.waiting = waiting;
        this.late = late;
    }

    Plan<@Nullable Void> release(LeaseHandle lease) {
        long notFreeBefore = notFreeBefore(lease);
        return Plan.later(() -> notFreeBefore > 0
                        ? leaveTaken(lease, notFreeBefore)
                        : instance.hasEnded()
                                ? giveBack(lease)
                                : handOver(lease).then(handed -> handed ? Plan.DONE : giveBack(lease)))
                .otherwise(e -> e instanceof NoLockException ? null : notReleased(lease, notFreeBefore, e));
    }

    /** Puts off a release that failed, whatever the reason: the holder is done with the lock, so it must not stay taken. */
    private Plan<@Nullable Void> notReleased(LeaseHandle lease, long notFreeBefore, RuntimeException e) {
        if (e instanceof IllegalStateException && instance.hasEnded()) {
            // closed while it was handed over: the one who got it has given it back
            return Plan.DONE;
        }
        putOff(lease, notFreeBefore, e.getMessage());
        // of several, some may have been freed; and whoever waits here counted on this lease to hand the lock on
        waiting.wake(lease.names());
        Log.warn(lease.name() + " could not be given back, it is tried again until the lease has ended: "
                + e.getMessage());
        return Plan.DONE;
    }

    /** Returns for how many microseconds after it was taken a lease must stay taken; 0 if that time is over. */
    private long notFreeBefore(LeaseHandle lease) {
        Duration minimum = lease.notFreeBefore();
        return minimum != null && instance.ticker.now() - lease.acquiredAt() < minimum.toNanos()
                ? Limits.micros(minimum)
                : 0;
    }

    /** Gives back all of these leases in as few statements as the database allows, until the given end; logs what was left. */
    void releaseAll(List<LeaseHandle> leases, Deadline end) {
        leases.forEach(lease -> late.keep(lease.names(), lease.key().secret(), left(lease), notFreeBefore(lease)));
        late.drain(end);
    }

    /**
     * Frees a lock that has no handle, at once or not at all.
     *
     * @param noAnswer what to do if an answer never comes: the request may arrive later
     */
    Plan<@Nullable Void> releaseNow(GrantKey key, @Nullable String owner, Runnable noAnswer) {
        AtomicBoolean unknown = new AtomicBoolean();
        return heldRow.repeatable(
                        key.name(),
                        "could not be released",
                        free(key, ONE_SECOND).ifFailed(e -> {
                            if (e.meaning() == Meaning.UNKNOWN) {
                                unknown.set(true);
                                noAnswer.run();
                            }
                            return Plan.failed(e);
                        }))
                .last(result -> {
                    // after an answer that never came, "gone" is what was wanted
                    if (result.gone() != null && !unknown.get()) {
                        throw result.gone().notHeld(key, "", null);
                    }
                    if (result.gone() == null && result.answer().isEmpty()) {
                        throw HeldRow.stayedLocked(key, "released");
                    }
                    instance.events.tell(Kind.RELEASED, List.of(key.name()), key.fence(), owner, null);
                    waiting.freed(List.of(key.name()), ClaimResult.wanted(result.answer()));
                });
    }

    /** Frees a lock, waiting this long while its row is locked. */
    private Plan<HeldRow.Result> free(GrantKey key, Duration patience) {
        Plan<OptionalLong> release =
                Plan.later(() -> store.release(key.name(), key.secret(), waiting.waitFor(key.name())));
        return heldRow.attempt(key, true, patience, release);
    }

    /** Lets a lease that must stay taken for a while expire at the right time, under an id that nobody has. */
    private Plan<@Nullable Void> leaveTaken(LeaseHandle lease, long micros) {
        return Plan.all(
                        lease.names(),
                        name -> heldRow.attempt(
                                        lease.key(name),
                                        true,
                                        PATIENCE,
                                        store.releaseAt(name, lease.key().secret(), micros))
                                .map(result -> ended(lease, name, result)))
                .last(all -> {
                    released(lease);
                    // those who wait here look at it seldom while it is held here
                    waiting.wake(lease.names());
                });
    }

    /** Hands the lock to the next waiter of this process, unless its row is pinned or others must get their turn. */
    private Plan<Boolean> handOver(LeaseHandle lease) {
        WaitQueue queue = waiting.queueFor(lease.names());
        if (queue == null || lease.names().size() > 1) {
            return Plan.of(false);
        }
        LeaseWaiter next = queue.share.goesOn(waiting.wantedByOtherQueues(queue)) ? queue.next() : null;
        if (next == null) {
            return Plan.of(false);
        }
        FenceReserve<LeaseHandle> fences = lease.reserve();
        if (fences != null && passingOn.may(lease, fences, next.request)) {
            LeaseHandle passed = grants.passedOn(lease, fences, next.request);
            passingOn.passed(fences);
            queue.share.handedOver(false);
            released(lease);
            // before it may be lost
            instance.tell(Kind.HANDED_OVER, passed, null);
            return grants.begun(passed).then(handed -> handTo(next, handed));
        }
        int reserve = queue.reserveFor(next);
        Claim claim = next.request.claim(store.newSecret(), reserve);
        Clocks sentAt = instance.ticker.clocks();
        return handOver(lease, claim).then(answer -> {
            if (!answer.granted()) {
                return Plan.of(false);
            }
            queue.share.handedOver(answer.wanted());
            released(lease);
            // before there is a lease that may be lost
            instance.events.tell(Kind.HANDED_OVER, lease.names(), answer.fence(), next.request.owner(), null);
            return grants.granted(lease.names(), next.request, new Grants.Outcome(answer, sentAt))
                    .then(handed -> {
                        if (reserve > 0) {
                            passingOn.begin(handed);
                        }
                        return handTo(next, handed);
                    });
        });
    }

    private static Plan<Boolean> handTo(LeaseWaiter next, LeaseHandle handed) {
        return next.serve(handed) ? Plan.of(true) : handed.closingUnwanted().map(closed -> true);
    }

    private Plan<ClaimResult> handOver(LeaseHandle lease, Claim claim) {
        return store.handOver(lease.name(), lease.key().secret(), claim).ifFailed(e -> {
            if (e.meaning() != Meaning.UNKNOWN) {
                return Plan.of(ClaimResult.refused(null));
            }
            // resolved first: a late release under way would take it from the one it is handed to
            return store.resolve(lease.name(), claim.secret())
                    .ifFailed(unresolved -> {
                        late.add(lease.names(), claim.secret(), claim.micros());
                        return Plan.failed(unresolved);
                    })
                    .map(row -> {
                        if (row.isPresent()) {
                            return ClaimResult.of(row.get(), claim);
                        }
                        late.add(lease.names(), claim.secret(), claim.micros());
                        return ClaimResult.refused(null);
                    });
        });
    }

    private Plan<@Nullable Void> giveBack(LeaseHandle lease) {
        Plan<Integer> together = lease.names().size() > 1 ? releaseTogether(lease) : Plan.of(0);
        return together.then(count -> count == lease.names().size() ? Plan.of(false) : releaseEach(lease, count))
                .last(othersWait -> {
                    released(lease);
                    waiting.freed(lease.names(), othersWait);
                });
    }

    /**
     * Releases the locks one by one, of which so many were freed together before; returns whether another process waits. Those that
     * were freed before are gone as well: another may have them by now. If more are gone, the lease was lost, which is told whatever
     * becomes of the others.
     */
    private Plan<Boolean> releaseEach(LeaseHandle lease, int freed) {
        AtomicBoolean othersWait = new AtomicBoolean();
        List<Gone> gone = new ArrayList<>();
        return Plan.all(
                        lease.names(),
                        name -> free(lease.key(name), PATIENCE).map(result -> {
                            othersWait.compareAndSet(false, ClaimResult.wanted(result.answer()));
                            return result.gone() != null ? gone.add(result.gone()) : ended(lease, name, result);
                        }))
                .otherwise(e -> gone.size() > freed ? Plan.of(true) : null)
                .map(all -> {
                    if (gone.size() > freed) {
                        throw lease.loseAtRelease(Gone.mostTelling(gone));
                    }
                    return othersWait.get();
                });
    }

    /** Releases the locks in one statement, and returns how many: a locked row is skipped, or fails it as a whole. */
    private Plan<Integer> releaseTogether(LeaseHandle lease) {
        return store.releaseAll(lease.names().stream()
                        .map(name -> new ListedRow(name, lease.key().secret(), 0))
                        .toList())
                .ifFailed(e -> e.isLocked() ? Plan.of(0) : Plan.failed(e));
    }

    /** Throws if the lease turned out to be lost, or its row stayed locked. */
    private static boolean ended(LeaseHandle lease, LockName name, HeldRow.Result result) {
        if (result.gone() != null) {
            throw lease.loseAtRelease(result.gone());
        }
        if (result.answer().isEmpty()) {
            throw new LockingFailException(name, "its row is locked by an open transaction", null);
        }
        return true;
    }

    private void released(LeaseHandle lease) {
        instance.tell(Kind.RELEASED, lease, null);
    }

    /** Returns how long the lease may last at most, as far as is known here. */
    private Duration left(LeaseHandle lease) {
        long known = Math.max(0, lease.deadline() - instance.ticker.now());
        return Duration.ofNanos(known).plus(lease.request().duration());
    }

    private void putOff(LeaseHandle lease, long notFreeBefore, @Nullable String why) {
        late.addHeld(lease.names(), lease.key().secret(), left(lease), notFreeBefore);
        instance.tell(Kind.RELEASE_FAILED, lease, why);
    }
}
