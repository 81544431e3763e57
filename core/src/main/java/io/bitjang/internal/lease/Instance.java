// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** What the parts of one instance share, and whether it is open: every call looks at that, and the first close wins. Thread-safe. */
final class Instance {

    /** Does what the parts plan. */
    final Driver driver;

    /** Plans the statements. */
    final LockStore store;

    /** Tells the listeners. */
    final Events events;

    /** Says how the instance was configured. */
    final Settings settings;

    final Ticker ticker;

    private final AtomicBoolean closed = new AtomicBoolean();

    Instance(Driver driver, LockStore store, Events events, Settings settings) {
        this.driver = driver;
        this.store = store;
        this.events = events;
        this.settings = settings;
        this.ticker = driver.ticker();
    }

    /** Tells the listeners what became of a lease. */
    void tell(Kind kind, LeaseHandle lease, @Nullable String detail) {
        events.tell(kind, lease.names(), lease.fence(), lease.request().owner(), detail);
    }

    /** Ends the instance's lifetime; returns whether this call did. */
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
