// SPDX-License-Identifier: Apache-2.0
package io.bitjang.races;

import io.bitjang.internal.time.Ticker;

/** Clocks that stand still unless a test moves them, which it does while one thread is alone. Who sleeps moves nothing. */
public final class StillTicker implements Ticker {

    private long now = 1_000_000_000_000L;

    /** Lets so many nanoseconds pass. */
    public void pass(long nanos) {
        now += nanos;
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public long wallMillis() {
        return now / 1_000_000;
    }

    @Override
    public void park(long nanos) {}

    @Override
    public boolean sleep(long nanos) {
        return true;
    }

    @Override
    public long random(long below) {
        return 0;
    }
}
