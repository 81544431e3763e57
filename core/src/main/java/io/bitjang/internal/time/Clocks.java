// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.util.concurrent.TimeUnit;

/**
 * The monotonic clock and the wall clock at one moment. The wall clock decides nothing: it may step. That it ran ahead of the other
 * may mean that the host was suspended.
 *
 * @param ticks nanoseconds of {@link Ticker#now()}
 * @param wall milliseconds of {@link Ticker#wallMillis()}
 */
public record Clocks(long ticks, long wall) {

    /** Returns by how many nanoseconds the wall clock ran ahead of the monotonic one from this moment to that. */
    public long wallRanAhead(Clocks now) {
        return TimeUnit.MILLISECONDS.toNanos(now.wall - wall) - (now.ticks - ticks);
    }
}
