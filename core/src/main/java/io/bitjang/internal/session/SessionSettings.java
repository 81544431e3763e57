// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

/**
 * How session locks were configured.
 *
 * @param owner in whose name they are taken
 * @param waitingConnections how many connections may wait for a lock, next to the one that carries the others
 * @param most how many locks may be held at a time
 */
public record SessionSettings(String owner, int waitingConnections, int most) {

    private static final int MOST_WAITING = 8;

    /** Requires a number of waiting connections that is not too large. */
    public static int waiting(int connections) {
        if (connections < 0 || connections > MOST_WAITING) {
            throw new IllegalArgumentException("The connections that wait must be 0 to " + MOST_WAITING
                    + ", each takes a thread while it waits: " + connections);
        }
        return connections;
    }

    /** Requires a number of locks that is at least 1. */
    public static int most(int locks) {
        if (locks < 1) {
            throw new IllegalArgumentException("The session locks held at a time can't be fewer than 1: " + locks);
        }
        return locks;
    }
}
