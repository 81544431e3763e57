// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A lease that was granted. Close it to give it back; closing twice is fine. Thread-safe.
 *
 * <p>Its deadline here is measured on a monotonic clock from before the request was sent, so it ends before the database's. A
 * process that may have been stopped in between cannot trust any deadline: {@link #guard} decides in the database.
 */
public interface Lease extends AutoCloseable {

    /** What is known about the lease. */
    enum State {
        /** Held, and renewed in time. */
        HELD,
        /** Held, but the last renewal did not happen: its row was locked by a transaction. Tried again. */
        AT_RISK,
        /** Held as far as is known, but the last renewal's answer never came, or the host may have been suspended. Asked again. */
        UNKNOWN,
        /** Lost: expired, taken by another, or taken away. Final. */
        LOST,
        /** Given back. Final. */
        RELEASED
    }

    /** The lock, the first in order if there are several. */
    LockName name();

    /** All locks of this lease, in order. */
    List<LockName> names();

    /** The number of this grant: larger than that of any earlier grant of these names. Hand it to resources outside. */
    long fence();

    /** What is known now. */
    State state();

    /** Why it was lost. */
    Optional<String> lostBecause();

    /** Whether it is held, as far as can be known without asking the database. */
    boolean isHeld();

    /** What is left of it before it ends unless renewed; zero when it is not held. */
    Duration remaining();

    /**
     * Makes sure that at least this much is left, renewing if need be: call it before a dangerous step.
     *
     * @throws NoLockException if it is lost, or as much can't be had
     * @throws LockingFailException if the database fails
     */
    void ensure(Duration atLeast);

    /**
     * Renews now.
     *
     * @throws NoLockException if it is lost
     * @throws LockingFailException if the database fails
     */
    void renew();

    /**
     * Guards the caller's transaction: until it ends nobody can take any lock of this lease, and if one was lost before, the
     * transaction is rolled back and this throws.
     *
     * <p>A rollback to a savepoint that is older than the guard, an implicit commit (a change of the schema on MySQL, MariaDB and H2)
     * and a deadlock whose victim goes on (MySQL, MariaDB and H2) end the guard early. If your transaction may do one of them, call
     * this once more just before the commit: it refuses if another got the lock in between.
     *
     * @param connection in a transaction of the caller's (auto-commit off); none of its settings is changed
     * @throws NoLockException if a lock was lost: the transaction was rolled back
     * @throws StaleSnapshotException if the transaction's snapshot is older than the grant: it was rolled back
     * @throws IllegalStateException if the connection is in auto-commit mode
     */
    void guard(Connection connection);

    /**
     * Calls back when the lease is lost, at once if it is lost already, on a thread of the library's. Of one lease, callbacks run one
     * after the other; of all leases, sixteen at a time.
     */
    Lease onLost(Consumer<Lease> callback);

    /**
     * Gives it back. If it was lost and the holder was not told yet, throws {@link NoLockException}, once. If the database can't
     * be reached, giving back goes on in the background until the lease has ended.
     */
    @Override
    void close();
}
