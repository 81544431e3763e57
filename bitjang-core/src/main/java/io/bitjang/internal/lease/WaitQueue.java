// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Ticks;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Those of one process who wait for the same locks, in the order of their arrival. Only the first competes with other processes.
 *
 * <p>A lock that is released here goes straight to the next in the queue. That would starve other processes, so once the table
 * says that one of them waits, the run of hand-overs is bounded: the lock is then really freed, and this queue stands back for
 * a moment. {@code lock} guards everything; nothing is called under it.
 */
final class WaitQueue {

    private static final int LONGEST_RUN = 50;
    private static final long LONGEST_RUN_NANOS = Duration.ofMillis(200).toNanos();

    /** How often the table is asked: every 50 ms at first, seldom after long. */
    private static final long[] POLL_NANOS = {
        Duration.ofMillis(50).toNanos(),
        Duration.ofMillis(100).toNanos(),
        Duration.ofMillis(200).toNanos()
    };

    private static final int POLLS_PER_STEP = 40;

    final List<LockName> names;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Waiter> waiters = new ArrayDeque<>();
    private boolean attempting;
    private boolean retired;
    private boolean wanted;
    private int run;
    private long runBegan;
    private long standBackUntil;
    private long nextPoll;
    private int polls;

    WaitQueue(List<LockName> names) {
        this.names = names;
        this.nextPoll = Ticks.now();
        this.standBackUntil = nextPoll;
    }

    /** Adds one at the end; false if the queue has been retired meanwhile. */
    boolean add(Waiter waiter) {
        lock.lock();
        try {
            if (retired) {
                return false;
            }
            waiters.add(waiter);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Takes out those who have gone; true if nobody is left and the queue is retired. */
    boolean retireIfEmpty() {
        lock.lock();
        try {
            waiters.removeIf(Waiter::isDone);
            retired |= waiters.isEmpty() && !attempting;
            return retired;
        } finally {
            lock.unlock();
        }
    }

    /** The one to make an attempt for, if it is time for one and none is under way. It ends with {@link #attempted}. */
    @Nullable
    Waiter beginAttempt() {
        lock.lock();
        try {
            waiters.removeIf(Waiter::isDone);
            if (attempting) {
                // what this one was told may be news to the attempt under way: look again after it
                nextPoll = Ticks.now();
                return null;
            }
            if (waiters.isEmpty() || standBackUntil - Ticks.now() > 0) {
                return null;
            }
            attempting = true;
            return waiters.peek();
        } finally {
            lock.unlock();
        }
    }

    /** The attempt is over; a grant begins a new run of hand-overs. */
    void attempted(boolean granted, boolean wantedByOthers) {
        lock.lock();
        try {
            attempting = false;
            if (granted) {
                run = 0;
                runBegan = Ticks.now();
                wanted = wantedByOthers;
                polls = 0;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The one to hand a released lock to; null if there is none, or others must get their turn. */
    @Nullable
    Waiter nextInRun() {
        lock.lock();
        try {
            waiters.removeIf(Waiter::isDone);
            if (wanted && (run >= LONGEST_RUN || Ticks.now() - runBegan > LONGEST_RUN_NANOS)) {
                return null;
            }
            return waiters.peek();
        } finally {
            lock.unlock();
        }
    }

    /** A hand-over went well. */
    void handedOver(boolean wantedByOthers) {
        lock.lock();
        try {
            if (!wanted && wantedByOthers) {
                // only from now on is there anyone to be fair to
                run = 0;
                runBegan = Ticks.now();
            }
            wanted = wantedByOthers;
            run++;
        } finally {
            lock.unlock();
        }
    }

    /** The lock was really freed while others may wait for it: they go first. Answers when this queue may try again. */
    long freed(long standBackNanos) {
        lock.lock();
        try {
            standBackUntil = Ticks.now() + (wanted ? standBackNanos : 0);
            nextPoll = standBackUntil;
            return nextPoll;
        } finally {
            lock.unlock();
        }
    }

    /** When to look at the table next; Long.MAX_VALUE while an attempt is under way. */
    long nextPoll() {
        lock.lock();
        try {
            return attempting || waiters.isEmpty() ? Long.MAX_VALUE : nextPoll;
        } finally {
            lock.unlock();
        }
    }

    /** The table was looked at: the lock is held, and ends in so long at the latest unless it is renewed. */
    void polled(long holderEndsNanos, long atLeastNanos) {
        lock.lock();
        try {
            long interval = POLL_NANOS[Math.min(polls++ / POLLS_PER_STEP, POLL_NANOS.length - 1)];
            nextPoll = Ticks.now() + Math.min(Math.max(interval, atLeastNanos), Math.max(holderEndsNanos, 1_000_000));
        } finally {
            lock.unlock();
        }
    }

    /** Whether this one is the first, and so the one that competes. */
    boolean isFirst(Waiter waiter) {
        lock.lock();
        try {
            return waiters.peek() == waiter;
        } finally {
            lock.unlock();
        }
    }

    List<Waiter> waiters() {
        lock.lock();
        try {
            return List.copyOf(waiters);
        } finally {
            lock.unlock();
        }
    }
}
