// SPDX-License-Identifier: Apache-2.0
package io.bitjang.admin;

import io.bitjang.LockName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the audit trail.
 *
 * @param at when, by the database's clock
 * @param kind what happened
 * @param name to which lock
 * @param fence the number of the grant that ended by it (force release) or began with it (take-over)
 * @param from who lost the lock
 * @param by who took it, or took it away
 * @param reason why, as the operator wrote
 */
public record AuditEntry(
        Instant at,
        Kind kind,
        LockName name,
        long fence,
        @Nullable String from,
        @Nullable String by,
        @Nullable String reason) {

    /** What is written down. */
    public enum Kind {
        /** An expired lock was taken by another. */
        TAKEN_OVER,
        /** An operator took a lock away. */
        FORCE_RELEASED
    }
}
