// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.internal.sql.GuardSql;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicBoolean;

/** Knows whether an instance is open: every call looks at it, and the first close wins. Thread-safe. */
final class Lifetime {

    private final AtomicBoolean closed = new AtomicBoolean();

    /** Ends the lifetime; returns whether this call did. */
    boolean end() {
        return closed.compareAndSet(false, true);
    }

    boolean hasEnded() {
        return closed.get();
    }

    void requireOpen() {
        if (hasEnded()) {
            throw ended();
        }
    }

    /** Requires that the instance is open; if it is not, the caller's transaction is rolled back. */
    void requireOpenFor(Connection connection) {
        if (hasEnded()) {
            throw GuardSql.refuse(
                    connection, new IllegalStateException("This Locks is closed, the transaction was rolled back"));
        }
    }

    /** Makes the exception for those who call an instance that was closed before. */
    static IllegalStateException ended() {
        return new IllegalStateException("This Locks is closed");
    }

    /** Makes the exception for those who wait when the instance is closed. */
    static LockException ending() {
        return new LockException(null, "This Locks was closed", null);
    }
}
