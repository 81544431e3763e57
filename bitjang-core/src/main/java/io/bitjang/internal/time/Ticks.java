// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The monotonic clock, and sleeping by it. No other class of the core reads a clock or sleeps. */
public final class Ticks {

    private Ticks() {}

    /** Now, in nanoseconds of no particular origin. */
    public static long now() {
        return System.nanoTime();
    }

    /** Sleeps for a random part of the given time, at least a quarter of it, so that those who collided don't meet again. */
    public static void pauseAround(long millis) throws InterruptedException {
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(nanos / 4, nanos + 1));
    }
}
