// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.SimTable;
import java.time.Duration;

/**
 * What kind of a world it is.
 *
 * @param server how the server locks rows
 * @param calm whether nothing fails: then it is a flaw if a lease is lost, or if a lock stays free while somebody waits for it
 * @param notifies whether the server tells those who listen that a lock was freed
 * @param polls whether those who wait look at the table again and again even though they were promised to be woken
 * @param line whether processes stand in line
 * @param lease how long a lease lasts
 */
record SimKind(SimTable.Server server, boolean calm, boolean notifies, boolean polls, boolean line, Duration lease) {

    private static final Duration SHORT = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(12);

    static SimKind chosen(Choices choices) {
        SimTable.Server server = SimTable.Server.values()[choices.below(SimTable.Server.values().length)];
        return switch (choices.below(6)) {
            case 0, 1 -> new SimKind(server, false, false, true, false, SHORT);
            case 2 -> new SimKind(server, false, false, true, false, LONG);
            case 3 -> {
                boolean line = isLine(server, choices);
                // a process that has died, stands still or is not heard may keep the gate: the others look at the table
                boolean polls = line || choices.onceIn(2);
                yield new SimKind(server, false, notifies(server, line), polls, line, choices.onceIn(2) ? LONG : SHORT);
            }
            default -> {
                boolean line = isLine(server, choices);
                yield new SimKind(server, true, notifies(server, line), false, line, LONG);
            }
        };
    }

    /** H2 has no line. */
    private static boolean isLine(SimTable.Server server, Choices choices) {
        return server != SimTable.Server.SKIPS && choices.onceIn(2);
    }

    /** PostgreSQL alone has both; without a line, anyone may notify. */
    private static boolean notifies(SimTable.Server server, boolean line) {
        return !line || server == SimTable.Server.KEY_SHARE;
    }

    /** How long a lock may stay free, in nanoseconds, while somebody waits who was promised to be woken. */
    long idle() {
        return Duration.ofMillis(1500).toNanos();
    }

    /** How long a grant may stay in the table, in nanoseconds, that nobody has; longer than a lease where that can't be told. */
    long orphaned() {
        return calm ? Duration.ofSeconds(4).toNanos() : Duration.ofSeconds(9).toNanos();
    }

    /** By how much the server's clock steps back, all in all, in microseconds. */
    long stepsBack() {
        return calm ? 0 : Duration.ofSeconds(6).toMillis() * 1000;
    }

    /** How long a row must have been idle to be swept, in microseconds: longer than the server's clock steps back. */
    long swept() {
        return stepsBack() + (calm ? 100_000 : 1_000_000);
    }
}
