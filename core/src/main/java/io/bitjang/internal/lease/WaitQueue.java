// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Locked;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Those of one process who wait for the same locks, in the order of their arrival. Only the first competes with other processes.
 *
 * <p>A lock that is released here goes straight to the next in the queue, as long as this process's {@link Turn} lasts. {@code
 * lock} guards everything; nothing is called under it but the turn.
 */
final class WaitQueue extends Locked {

    /** How often the table is asked: every 50 ms at first, seldom after long. */
    private static final long[] POLL_NANOS = {
        Duration.ofMillis(50).toNanos(),
        Duration.ofMillis(100).toNanos(),
        Duration.ofMillis(200).toNanos()
    };

    private static final int POLLS_PER_STEP = 40;

    /** After a failure, and at most after many: a pool checks a connection again only when it was not used for a while. */
    private static final long FAILED_NANOS = Duration.ofMillis(200).toNanos();

    private static final int MAX_DOUBLINGS = 3;

    final List<LockName> names;
    final Turn turn;
    private final Deque<LeaseWaiter> waiters = new ArrayDeque<>();
    private boolean attempting;
    private boolean again;
    private boolean retired;
    private long nextPoll = Ticks.now();
    private int polls;
    private long seen;
    private int failures;
    private boolean left;

    WaitQueue(List<LockName> names, Turn turn) {
        this.names = names;
        this.turn = turn;
    }

    /** Adds one at the end; false if the queue has been retired meanwhile. */
    boolean add(LeaseWaiter waiter) {
        return locked(() -> !retired && waiters.add(waiter));
    }

    /** Takes out those who have gone; true if nobody is left and the queue is retired. */
    boolean retireIfEmpty() {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            retired |= waiters.isEmpty() && !attempting;
            return retired;
        });
    }

    /** Whether this one is the first, and so the one that competes. */
    boolean isFirst(LeaseWaiter waiter) {
        return locked(() -> waiters.peek() == waiter);
    }

    /** How many still wait. */
    int size() {
        return (int) waiters().stream().filter(waiter -> !waiter.isDone()).count();
    }

    List<LeaseWaiter> waiters() {
        return locked(() -> List.copyOf(waiters));
    }

    /**
     * The one to make an attempt for, if it is time for one; it ends with {@link #attempted}. If one is under way, it is made again
     * after it: what the caller knows may be news to it.
     */
    @Nullable
    LeaseWaiter beginAttempt() {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            again |= attempting;
            if (attempting || waiters.isEmpty() || turn.standsBack()) {
                return null;
            }
            attempting = true;
            return waiters.peek();
        });
    }

    /** The attempt is over. Answers whether to try once more. */
    boolean attempted(boolean granted) {
        return locked(() -> {
            boolean onceMore = again && !granted;
            attempting = false;
            again = false;
            return onceMore;
        });
    }

    /** The next in line; null if there is none. */
    @Nullable
    LeaseWaiter next() {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            return waiters.peek();
        });
    }

    /** How many fences to set aside for a grant to this one: some if there are others to whom it may pass on. */
    int reserveFor(LeaseWaiter next) {
        return locked(() -> names.size() == 1
                        && waiters.size() > 1
                        && waiters.stream().limit(2).allMatch(waiter -> next.request.passesOnTo(waiter.request))
                ? Run.RESERVED
                : 0);
    }

    /** It is not to be looked at before this. */
    void notBefore(long at) {
        locked(() -> nextPoll = at);
    }

    /** When to look at the table next; Long.MAX_VALUE while an attempt is under way. */
    long nextPoll() {
        return locked(() -> attempting || waiters.isEmpty() ? Long.MAX_VALUE : turn.notBefore(nextPoll));
    }

    /**
     * The lock can't be had now; its holder's time ends in so long unless it is renewed. A lock that changes hands is looked at as
     * often as at first; and never in step with another process.
     */
    void lookAgain(long holderEndsNanos, long atLeastNanos, long fence) {
        locked(() -> {
            failures = 0;
            polls = fence == seen ? polls + 1 : 0;
            seen = fence;
            left &= fence == 0;
            long interval = POLL_NANOS[Math.min(polls / POLLS_PER_STEP, POLL_NANOS.length - 1)];
            interval += ThreadLocalRandom.current().nextLong(interval / 4);
            long wait = Math.min(Math.max(interval, atLeastNanos), Math.max(holderEndsNanos, 1_000_000));
            return nextPoll = turn.ifStandingBack(Ticks.now() + wait);
        });
    }

    /** The lock is free, and others are to go first: true once, as long as it is not seen held again. */
    boolean leavesItToOthers() {
        return locked(() -> left = !left);
    }

    /** The database failed: the pauses grow. */
    void failed() {
        locked(() -> nextPoll = Ticks.now() + (FAILED_NANOS << Math.min(failures++, MAX_DOUBLINGS)));
    }
}
