// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** For those who can't wait: they try again every ten milliseconds. */
final class Polling {

    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);

    private Polling() {}

    /** One attempt. */
    interface Attempt {
        boolean succeeds() throws Exception;
    }

    static void until(Attempt attempt) throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!attempt.succeeds()) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("Not granted in two minutes");
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }
}
