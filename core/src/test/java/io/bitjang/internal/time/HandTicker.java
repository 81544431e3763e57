// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Clocks that stand still unless they are moved. Who sleeps moves them. Chance always throws the same. Thread-safe. */
public final class HandTicker implements Ticker {

    private final AtomicLong ticks = new AtomicLong(Long.MAX_VALUE - 1_000); // an overflow is soon to come
    private final AtomicLong wall = new AtomicLong(1_000_000);

    /** Lets so much time pass, on both clocks. */
    public void pass(Duration time) {
        ticks.addAndGet(time.toNanos());
        wall.addAndGet(time.toMillis());
    }

    @Override
    public long now() {
        return ticks.get();
    }

    @Override
    public long wallMillis() {
        return wall.get();
    }

    @Override
    public void park(long nanos) {
        pass(Duration.ofNanos(nanos));
    }

    @Override
    public boolean sleep(long nanos) {
        pass(Duration.ofNanos(nanos));
        return true;
    }

    @Override
    public long random(long below) {
        return below / 2;
    }
}
