// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The clocks of this machine. Thread-safe. */
final class SystemTicker implements Ticker {

    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public boolean sleep(long nanos) {
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public long random(long below) {
        return ThreadLocalRandom.current().nextLong(below);
    }
}
