// SPDX-License-Identifier: Apache-2.0
package io.bitjang.admin;

import io.bitjang.LockName;
import java.time.Duration;

/**
 * A lock that this process holds, or that threads of it wait for.
 *
 * @param name the lock
 * @param kind lease or session lock
 * @param held whether this process holds it
 * @param heldFor for how long it has held it, zero if it does not
 * @param waiters how many of this process wait for it
 */
public record LocalLock(LockName name, Kind kind, boolean held, Duration heldFor, int waiters) {

    /** What a process can hold. */
    public enum Kind {
        /** A {@link io.bitjang.Lease}. */
        LEASE,
        /** A {@link io.bitjang.SessionLock}. */
        SESSION
    }
}
