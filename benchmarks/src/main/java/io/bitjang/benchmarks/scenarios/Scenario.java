// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

/** Something that is measured. */
public interface Scenario {

    /** Short, like S1. */
    String id();

    /** In a line. */
    String title();

    /** Measures all contestants at all places, round by round, and writes down the figures. */
    void run(Course course) throws Exception;
}
