// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import java.util.List;

/** All that is measured. */
public final class Scenarios {

    private static final int MANY = 16;

    private Scenarios() {}

    /** In order. */
    public static List<Scenario> all() {
        return List.of(
                new OneProcess("S1", "one thread, acquire and release", 1, false),
                new OneProcess("S2", "16 threads, a name each", MANY, false),
                new OneProcess("S3", "16 threads of one JVM on one name", MANY, true),
                new ManyProcesses(),
                new HandOff(),
                new Held(),
                new Growth(),
                new Neighbours());
    }
}
