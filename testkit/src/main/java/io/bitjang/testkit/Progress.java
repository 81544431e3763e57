// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.time.Duration;

/** Tells whoever waits for a build what takes long. Standard error, because no logging is set up in a user's tests. */
final class Progress {

    private Progress() {}

    @SuppressWarnings("SystemOut")
    static void say(String message) {
        System.err.println("[bitjang-testkit] " + message);
    }

    static String since(long nanoTime) {
        return Duration.ofNanos(System.nanoTime() - nanoTime).toMillis() + " ms";
    }
}
