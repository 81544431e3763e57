// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Deadline;
import java.util.List;

/** How those who wait hear from the database that a lock was freed. Where they can't, the poller does the work. Thread-safe. */
interface WakeUps {

    /** Asks to be woken for locks that another process has; returns whether nobody here should try before the wake-up. */
    boolean want(List<LockName> names);

    /** Tells whether a wake-up will come for these locks, so that they need hardly be polled for. */
    boolean willRing(List<LockName> names);

    /** Tells whether processes take these locks in the order in which they asked: then nobody tries before the wake-up. */
    default boolean keepsOrder(List<LockName> names) {
        return false;
    }

    /** Tells whether another process goes first with these locks. */
    default boolean isBehind(List<LockName> names) {
        return false;
    }

    /** Notes that these locks were really freed here. */
    default void freed(List<LockName> names) {}

    /** Ends the wake-ups, and waits for that until the given end at most. */
    void close(Deadline end);
}
