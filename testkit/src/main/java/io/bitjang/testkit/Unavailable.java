// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import org.opentest4j.TestAbortedException;

/** A test needs what this machine lacks: on a developer's machine it is skipped, and says so; where a change is accepted it fails. */
final class Unavailable {

    private Unavailable() {}

    static RuntimeException because(String message) {
        if (Boolean.getBoolean("bitjang.ci")) {
            return new IllegalStateException(message);
        }
        Progress.say("SKIPPED: " + message);
        return new TestAbortedException(message);
    }
}
