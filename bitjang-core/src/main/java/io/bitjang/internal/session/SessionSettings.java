// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

/**
 * How session locks were configured.
 *
 * @param owner in whose name they are taken
 * @param waitingConnections how many connections may wait for a lock, next to the one that carries the others
 * @param most how many locks may be held at a time
 */
public record SessionSettings(String owner, int waitingConnections, int most) {}
