// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spi;

import io.bitjang.LockName;
import org.jspecify.annotations.Nullable;

/**
 * What happened to a lock. It never holds the lock id.
 *
 * @param kind what happened
 * @param name to which lock
 * @param fence the number of the grant it is about; 0 if there is none
 * @param owner in whose name; of a lock that was taken away, who had it
 * @param detail more for people: the reason of a loss, who forced a release
 */
public record LockEvent(
        Kind kind,
        LockName name,
        long fence,
        @Nullable String owner,
        @Nullable String detail) {

    /** What can happen. */
    public enum Kind {
        /** Granted: it was free. */
        ACQUIRED,
        /** Granted: it had expired in the hands of another. */
        TAKEN_OVER,
        /** Granted: handed over inside this process. */
        HANDED_OVER,
        /** Granted again to the owner that has it. */
        REENTERED,
        /** Not granted: someone else has it. */
        REFUSED,
        /** Prolonged. */
        RENEWED,
        /** A renewal did not happen; the lock is still held. */
        AT_RISK,
        /** An answer never came. */
        UNKNOWN,
        /** Lost. */
        LOST,
        /** Given back. */
        RELEASED,
        /** Giving back failed; it goes on in the background. */
        RELEASE_FAILED,
        /** Taken away by an operator. */
        FORCE_RELEASED,
        /** Its idle row was removed. */
        SWEPT
    }
}
