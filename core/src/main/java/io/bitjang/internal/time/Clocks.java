// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.util.concurrent.TimeUnit;

/**
 * The monotonic clock and the wall clock at one moment. The wall clock decides nothing: it may step. That it ran ahead of the other
 * may mean that the host was suspended.
 *
 * @param ticks nanoseconds of {@link Ticks#now()}
 * @param wall milliseconds of the wall clock
 */
public record Clocks(long ticks, long wall) {

    /** As they are now. */
    public static Clocks now() {
        return new Clocks(Ticks.now(), System.currentTimeMillis());
    }

    /** By how many nanoseconds the wall clock ran ahead of the monotonic one since. */
    public long wallRanAhead() {
        Clocks now = now();
        return TimeUnit.MILLISECONDS.toNanos(now.wall - wall) - (now.ticks - ticks);
    }
}
