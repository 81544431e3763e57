// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.internal.time.Ticker;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Rings once at the earliest of the times it was set to since it rang last; never twice within a millisecond, whatever it is set to.
 * Thread-safe.
 */
public final class Alarm {

    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

    private final Workers workers;
    private final Runnable task;

    /** Guards the fields below. */
    private final ReentrantLock lock = new ReentrantLock();

    private @Nullable Future<?> pending;
    private long at;
    private long notBefore;

    /** Makes an alarm whose task runs on the thread that must not wait. */
    public Alarm(Workers workers, Runnable task) {
        this.workers = workers;
        this.notBefore = workers.ticker().now();
        this.task = task;
    }

    /** Sets the alarm to ring at this moment of {@link Ticker#now()}, or earlier if it is set so. */
    public void setTo(long moment) {
        lock.lock();
        try {
            if (pending != null) {
                if (at - moment <= 0) {
                    return;
                }
                pending.cancel(false);
            }
            at = moment;
            long now = workers.ticker().now();
            pending = workers.after(Math.max(0, Math.max(moment - now, notBefore - now)), this::ring);
        } finally {
            lock.unlock();
        }
    }

    private void ring() {
        lock.lock();
        try {
            // whoever sets it from now on is not held up by this ring
            pending = null;
            notBefore = workers.ticker().now() + SHORTEST_PAUSE;
        } finally {
            lock.unlock();
        }
        task.run();
    }
}
