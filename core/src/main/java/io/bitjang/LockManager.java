// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Offline locks: a person takes one when an edit screen opens, its {@link LockId} travels in the form, and the save checks and
 * releases it. No node remembers anything: any node can check, extend and release.
 *
 * <p>The methods without a connection act at once, each in one statement of its own. The two that take a {@link Connection}
 * belong to the caller's transaction: {@link #checkLock(Connection, LockId)} guards it, {@link #releaseLock(Connection, LockId)}
 * frees the lock when, and only when, it commits.
 *
 * <p>Every method throws {@link LockingFailException} when the database fails. Thread-safe.
 */
public interface LockManager {

    /**
     * Takes the lock for the default duration (5 minutes unless set otherwise) in the name of this instance's owner.
     *
     * @throws AlreadyLockedException if someone has it: says who, since when, until when
     */
    LockId tryLock(String type, String id);

    /** Takes the lock for the default duration in the name of this owner. The owner is a label: it gives no right. */
    LockId tryLock(String type, String id, String owner);

    /** Takes the lock for this long. */
    LockId tryLock(String type, String id, String owner, Duration duration);

    /** Takes the lock with a note that others can read. */
    LockId tryLock(String type, String id, String owner, Duration duration, @Nullable String note);

    /**
     * Takes the lock from its holder, if its fence is still the one that was seen. No transaction that the former holder guards
     * afterwards can commit, and one that it guards already is waited for. Who may do that is the application's business.
     *
     * <p>Who takes over from itself, as a page that is loaded again does, leaves nothing in the audit trail: nobody has lost anything.
     *
     * @param seen the lock as it was read, for example by {@link io.bitjang.admin.LockAdmin#find}
     * @param reason why: the audit trail gets to read it
     * @return empty if the lock is free, or its fence moved on
     * @throws LockingFailException if the database fails, or a guarded transaction stayed open for too long
     */
    Optional<LockId> takeOver(LockData seen, String owner, Duration duration, @Nullable String note, String reason);

    /**
     * Whether the lock is still held under this id, now. For a decision that must hold until a commit use {@link
     * #checkLock(Connection, LockId)}.
     *
     * @return what the database knows about the lock
     * @throws NoLockException if it expired, was released or was taken away
     */
    LockData checkLock(LockId lockId);

    /**
     * Guards the caller's transaction: until it ends nobody can take the lock over, and if the lock was lost before, the
     * transaction is rolled back and this throws.
     *
     * <p>Three things end the guard before the transaction ends: a rollback to a savepoint that is older than the guard, a statement
     * that commits implicitly (a change of the schema on MySQL, MariaDB and H2), and a deadlock whose victim goes on (MySQL,
     * MariaDB and H2). If your transaction may do one of them, call this once more just before the commit. That is sound: a lock id
     * never returns, so if another got the lock in between, the second call refuses.
     *
     * @param connection in a transaction of the caller's (auto-commit off); none of its settings is changed
     * @throws NoLockException if another has the lock or it was released: the transaction was rolled back
     * @throws StaleSnapshotException if the transaction's snapshot is older than the grant: it was rolled back
     * @throws IllegalStateException if the connection is in auto-commit mode
     */
    LockData checkLock(Connection connection, LockId lockId);

    /**
     * Frees the lock now. One that expired and that nobody took is freed too.
     *
     * @throws NoLockException if it is not held under this id any more
     */
    void releaseLock(LockId lockId);

    /**
     * Frees the lock when, and only when, the caller's transaction commits; guards it as {@link #checkLock(Connection, LockId)}
     * does. Called last, just before the commit, it is the second guard that is described there.
     */
    void releaseLock(Connection connection, LockId lockId);

    /**
     * Adds to the present expiry. Not repeated after an unknown outcome.
     *
     * @return the new expiry
     * @throws NoLockException if it expired, was released or was taken away
     */
    Instant extendLockExpiration(LockId lockId, Duration increment);

    /**
     * Makes the lock last this long from now; never shortens it.
     *
     * @return the new expiry
     * @throws NoLockException if it expired, was released or was taken away
     */
    Instant renew(LockId lockId, Duration duration);

    /**
     * Cuts the lock down to this long from now, for a holder who is leaving but may come back (a page that reloads); never
     * prolongs it.
     *
     * @return the new expiry
     * @throws NoLockException if it expired, was released or was taken away
     */
    Instant leave(LockId lockId, Duration within);
}
