// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for what only time, or another thread of the library, brings about. The bound is for a machine that is very busy. */
final class Soon {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Soon() {}

    /** Returns when the condition holds, and fails if it never does. */
    static void holds(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                fail("Not within " + PATIENCE.toSeconds() + " seconds: " + what);
            }
            try {
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                fail("Interrupted while waiting: " + what);
            }
        }
    }
}
