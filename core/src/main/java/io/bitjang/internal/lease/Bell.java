// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.time.Deadline;
import java.util.List;

/** How those who wait hear from the database that a lock was freed. Where they can't, the poller does the work. Thread-safe. */
interface Bell {

    /** Someone here waits for locks that another process has. Answers whether nobody here should try before it rings. */
    boolean want(List<LockName> names);

    /** Whether it will ring for these, so that they need hardly be polled for. */
    boolean willRing(List<LockName> names);

    /** Whether processes take these in the order in which they asked the bell: then nobody tries before it rings. */
    default boolean keepsOrder(List<LockName> names) {
        return false;
    }

    /** Whether another process goes first. */
    default boolean isBehind(List<LockName> names) {
        return false;
    }

    /** These were really freed here. */
    default void freed(List<LockName> names) {}

    /** It rings no more. */
    void close(Deadline end);
}
