// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import io.bitjang.LockException;
import io.bitjang.LockName;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The monotonic clock, and sleeping by it. But for {@link Clocks}, no other class of the core reads a clock or sleeps. */
public final class Ticks {

    private Ticks() {}

    /** Now, in nanoseconds of no particular origin. */
    public static long now() {
        return System.nanoTime();
    }

    /** Sleeps so long, or until the thread is unparked or interrupted. */
    public static void park(long nanos) {
        LockSupport.parkNanos(nanos);
    }

    /** Waits until then at most, deaf to interrupts; the interrupt flag stays as it was. */
    public static void await(CountDownLatch latch, Deadline end) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await(end.remainingNanos(), TimeUnit.NANOSECONDS);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Sleeps for a random part of the given time, at least a quarter of it, so that those who collided don't meet again.
     *
     * @throws LockException if the thread is interrupted; its interrupt flag stays set
     */
    public static void pause(@Nullable LockName name, long millis) {
        if (!paused(millis)) {
            throw new LockException(
                    name,
                    "Interrupted while working on " + (name == null ? "the tables" : name),
                    new InterruptedException());
        }
    }

    /** Sleeps in the same way; false if the thread is interrupted: its interrupt flag stays set. */
    public static boolean paused(long millis) {
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(nanos / 4, nanos + 1));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
