// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Ticks;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Those of one process who wait for the same locks, in the order of their arrival. Only the first competes with other processes.
 *
 * <p>A lock that is released here goes straight to the next in the queue. That would starve the others, in other processes or in
 * other queues of this one, so once someone else waits the run of hand-overs is bounded: the lock is then really freed, and this
 * queue stands back for a moment. {@code lock} guards everything; nothing is called under it.
 */
final class WaitQueue {

    /** Many hand-overs are too many, unless they are so fast that hardly any time has passed. */
    private static final int LONGEST_RUN = 50;

    private static final long SHORT_RUN_NANOS = Run.LONGEST.toNanos();
    private static final long LONGEST_RUN_NANOS = Duration.ofMillis(200).toNanos();

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
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<LeaseWaiter> waiters = new ArrayDeque<>();
    private boolean attempting;
    private boolean again;
    private boolean retired;
    private boolean wanted;
    private int run;
    private long runBegan = Ticks.now();
    private long standBackUntil;
    private long nextPoll = runBegan;
    private int polls;
    private int failures;

    WaitQueue(List<LockName> names, long standBackUntil) {
        this.names = names;
        this.standBackUntil = standBackUntil;
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
            if (attempting || waiters.isEmpty() || standBackUntil - Ticks.now() > 0) {
                return null;
            }
            attempting = true;
            return waiters.peek();
        });
    }

    /** The attempt is over; a grant begins a new run of hand-overs. Answers whether to try once more. */
    boolean attempted(boolean granted, boolean wantedByOthers) {
        return locked(() -> {
            boolean onceMore = again && !granted;
            attempting = false;
            again = false;
            if (granted) {
                run = 0;
                runBegan = Ticks.now();
                wanted = wantedByOthers;
                polls = 0;
            }
            return onceMore;
        });
    }

    /** The one to hand a released lock to; null if there is none, or others must get their turn. */
    @Nullable
    LeaseWaiter nextInRun(boolean otherQueues) {
        return locked(() -> {
            waiters.removeIf(LeaseWaiter::isDone);
            long took = Ticks.now() - runBegan;
            boolean longRun = run >= LONGEST_RUN && took > SHORT_RUN_NANOS || took > LONGEST_RUN_NANOS;
            wanted |= otherQueues;
            return wanted && longRun ? null : waiters.peek();
        });
    }

    /** Whether more than one waits. */
    boolean isLong() {
        return locked(() -> waiters.size() > 1);
    }

    /** The lock passed on without a word from the database. */
    void passedOn() {
        locked(() -> run++);
    }

    /** A hand-over went well. */
    void handedOver(boolean wantedByOthers) {
        locked(() -> {
            if (!wanted && wantedByOthers) {
                // only from now on is there anyone to be fair to
                run = 0;
                runBegan = Ticks.now();
            }
            wanted = wantedByOthers;
            return run++;
        });
    }

    /** The lock was really freed: if others wait for it, they go first. Answers when this queue may try again. */
    long freed(boolean othersWait, long standBackNanos) {
        return locked(() -> {
            standBackUntil = Ticks.now() + (wanted || othersWait ? standBackNanos : 0);
            nextPoll = standBackUntil;
            return nextPoll;
        });
    }

    /** When to look at the table next; Long.MAX_VALUE while an attempt is under way. */
    long nextPoll() {
        return locked(() -> attempting || waiters.isEmpty() ? Long.MAX_VALUE : nextPoll);
    }

    /** The lock can't be had now; its holder's time ends in so long unless it is renewed. */
    void lookAgain(long holderEndsNanos, long atLeastNanos) {
        locked(() -> {
            failures = 0;
            long interval = POLL_NANOS[Math.min(polls++ / POLLS_PER_STEP, POLL_NANOS.length - 1)];
            long wait = Math.min(Math.max(interval, atLeastNanos), Math.max(holderEndsNanos, 1_000_000));
            return nextPoll = Ticks.now() + wait;
        });
    }

    /** The database failed: the pauses grow. */
    void failed() {
        locked(() -> nextPoll = Ticks.now() + (FAILED_NANOS << Math.min(failures++, MAX_DOUBLINGS)));
    }

    private <T extends @Nullable Object> T locked(Supplier<T> body) {
        lock.lock();
        try {
            return body.get();
        } finally {
            lock.unlock();
        }
    }
}
