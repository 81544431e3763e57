// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Deadline;
import java.util.List;

/** How those who wait hear from the database that a lock was freed. Where they can't, the poller does the work. Thread-safe. */
interface WakeUps {

    /** No wake-ups: all is left to the poller. */
    WakeUps NONE = new WakeUps() {};

    /** Those who wait here, as far as a source of wake-ups has to know them. */
    interface Sleepers {

        /** Tells whether anyone here waits, for whatever lock. */
        boolean areThere();

        /** Tells whether anyone here waits for just this lock. */
        boolean waitFor(LockName name);

        /** Tells whether a lease of this process has just this lock. */
        boolean have(LockName name);

        /** Lets those who wait for one of these locks try, because it may be free now. */
        void wake(List<LockName> freed);

        /** Lets those who wait for a lock try for it at once: it is most likely free, and this process is the first in line. */
        void goFirst(LockName name);
    }

    /** Asks to be woken for locks that another process has; returns whether nobody here should try before the wake-up. */
    default boolean want(List<LockName> names) {
        return false;
    }

    /**
     * Tells whether a wake-up will come for whatever happens to these locks after a moment of the monotonic clock, so that one who
     * looked then need hardly poll for them.
     */
    default boolean willRing(List<LockName> names, long since) {
        return false;
    }

    /** Tells whether processes take these locks in the order in which they asked: then nobody tries before the wake-up. */
    default boolean keepsOrder(List<LockName> names) {
        return false;
    }

    /** Tells whether another process goes first with these locks. */
    default boolean isBehind(List<LockName> names) {
        return false;
    }

    /** Gives up a source that has been silent for too long; whoever polls calls this, so that nobody waits for it for ever. */
    default void giveUpIfSilent() {}

    /** Notes that these locks were really freed here. */
    default void freed(List<LockName> names) {}

    /** Ends the wake-ups, and waits for that until the given end at most. */
    default void close(Deadline end) {}
}
