// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Locked;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Those of one process who wait for the same locks, in the order of their arrival. Only the first competes with other processes.
 *
 * <p>A lock that is released here goes straight to the next in the queue, as long as this process's {@link FairShare} lasts.
 * {@code lock} guards everything; nothing is called under it but the share.
 */
final class WaitQueue extends Locked {

    /** How often the table is asked: every 50 ms at first, seldom after long. */
    private static final long[] POLL_NANOS = {
        Duration.ofMillis(50).toNanos(),
        Duration.ofMillis(100).toNanos(),
        Duration.ofMillis(200).toNanos()
    };

    private static final int POLLS_PER_STEP = 40;

    /** The first pause after a failure; the next ones grow: a pool checks a connection only when it was not used for a while. */
    private static final long FAILED_NANOS = Duration.ofMillis(200).toNanos();

    private static final int MAX_DOUBLINGS = 3;

    private final Ticker ticker;
    final List<LockName> names;
    final FairShare share;
    private final Deque<LeaseWaiter> waiters = new ArrayDeque<>();
    private boolean attempting;
    private boolean again;
    private boolean retired;
    private long nextPoll;
    private int polls;
    private long seen;
    private int looks;
    private int failures;
    private boolean left;

    WaitQueue(Ticker ticker, List<LockName> names, FairShare share) {
        this.ticker = ticker;
        this.nextPoll = ticker.now();
        this.names = names;
        this.share = share;
    }

    /** Adds a waiter at the end; false if the queue has been retired meanwhile. */
    boolean add(LeaseWaiter waiter) {
        return locked(() -> !retired && waiters.add(waiter));
    }

    /** Takes out the waiters who have gone; true if nobody is left and the queue is retired. */
    boolean retireIfEmpty() {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            retired |= waiters.isEmpty() && !attempting;
            return retired;
        });
    }

    /** Tells whether this waiter is the first, and so the one that competes. */
    boolean isFirst(LeaseWaiter waiter) {
        return locked(() -> waiters.peek() == waiter);
    }

    /** Counts those who still wait. */
    int size() {
        return (int) waiters().stream().filter(waiter -> !waiter.isDone()).count();
    }

    List<LeaseWaiter> waiters() {
        return locked(() -> List.copyOf(waiters));
    }

    /**
     * Begins an attempt, which ends with {@link #attempted}, and returns the waiter to make it for; null if it is not time for
     * one. If an attempt is under way, another is made after it: what the caller knows may be news to it.
     */
    @Nullable
    LeaseWaiter beginAttempt() {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            again |= attempting;
            if (attempting || waiters.isEmpty() || share.standsBack()) {
                return null;
            }
            attempting = true;
            return waiters.peek();
        });
    }

    /** Ends the attempt; returns whether to try once more. */
    boolean attempted(boolean granted) {
        return locked(() -> {
            boolean onceMore = again && !granted;
            attempting = false;
            again = false;
            return onceMore;
        });
    }

    /** Returns the next waiter in line; null if there is none. */
    @Nullable
    LeaseWaiter next() {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            return waiters.peek();
        });
    }

    /** Returns how many fences to set aside for a grant to this waiter: some if there are others to whom it may pass on. */
    int reserveFor(LeaseWaiter next) {
        return locked(() -> names.size() == 1
                        && waiters.size() > 1
                        && waiters.stream().limit(2).allMatch(waiter -> next.request.passesOnTo(waiter.request))
                ? FenceReserve.RESERVED
                : 0);
    }

    /** Sets the time before which the table is not to be looked at. A look that is under way knows less, and says nothing of it. */
    void notBefore(long at) {
        locked(() -> {
            looks++;
            return nextPoll = at;
        });
    }

    /** Returns when to look at the table next; Long.MAX_VALUE while an attempt is under way, or if nobody waits. */
    long nextPoll() {
        return locked(() -> attempting || waiters.isEmpty() ? Long.MAX_VALUE : share.notBefore(nextPoll));
    }

    /**
     * Sets when to look at the table again, because the lock can't be had now; its holder's time ends in so many nanoseconds
     * unless it is renewed. A lock that changes hands is looked at as often as at first; and never in step with another process.
     */
    void lookAgain(long holderEndsNanos, long atLeastNanos, long fence) {
        locked(() -> {
            failures = 0;
            looks++;
            polls = fence == seen ? polls + 1 : 0;
            seen = fence;
            left &= fence == 0;
            long interval = POLL_NANOS[Math.min(polls / POLLS_PER_STEP, POLL_NANOS.length - 1)];
            interval += ticker.random(interval / 4);
            long wait = Math.min(Math.max(interval, atLeastNanos), Math.max(holderEndsNanos, 1_000_000));
            return nextPoll = share.ifStandingBack(ticker.now() + wait);
        });
    }

    /**
     * Sets when to look at a lock that is held here: in time for one who waits briefly to learn by whom, unless that is known. Whoever
     * comes later puts off no look.
     */
    void lookInTimeFor(LeaseWaiter waiter, boolean known, long atLeastNanos) {
        long half = waiter.deadline().remainingNanos() / 2;
        if (isFirst(waiter)) {
            lookAgain(half, atLeastNanos, 0);
        } else if (!known) {
            locked(() -> nextPoll = nextPoll - ticker.now() > half ? ticker.now() + half : nextPoll);
        }
    }

    /** Counts the looks at the table, so that one that was overtaken by another is known. */
    int looks() {
        return locked(() -> looks);
    }

    /** Tells whether the latest look found the lock held under this fence, too. */
    boolean hasSeen(long fence) {
        return locked(() -> seen == fence);
    }

    /**
     * Leaves a free lock to others, who are to go first: at the first look since it was seen held, and at every other look after
     * that. Returns whether it did so this time.
     */
    boolean leaveToOthers() {
        return locked(() -> left = !left);
    }

    /** Notes that the database failed: the pauses grow. */
    void failed() {
        locked(() -> nextPoll = ticker.now() + (FAILED_NANOS << Math.min(failures++, MAX_DOUBLINGS)));
    }
}
