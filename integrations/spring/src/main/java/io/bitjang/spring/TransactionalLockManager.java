// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockingFailException;
import io.bitjang.spring.internal.SpringTransactions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionSystemException;

/**
 * A {@link LockManager} that follows Spring's transactions: inside one, {@link #checkLock(LockId)} guards it and {@link
 * #releaseLock(LockId)} frees the lock when, and only when, it commits. Outside, they act at once.
 *
 * <pre>{@code
 * @Transactional
 * void save(LockId lockId, Order edited) {
 *     locks.checkLock(lockId);       // nobody can take the lock over until this commits
 *     orders.save(edited);
 *     locks.releaseLock(lockId);     // free with the commit
 * }
 * }</pre>
 *
 * <p>All other methods always act at once, on connections of the lock manager's own: a lock that was taken stays taken when the
 * transaction rolls back.
 *
 * <p>Transactions of {@code DataSourceTransactionManager}, {@code JdbcTransactionManager}, {@code JpaTransactionManager} and others
 * that bind their JDBC connection are joined, also if either side knows the data source by a {@code LazyConnectionDataSourceProxy} or
 * {@code TransactionAwareDataSourceProxy}. In a transaction of another data source both methods throw {@link
 * IllegalStateException}: they would promise what they can't keep. In a read-only transaction {@code checkLock} checks at once,
 * because there is no change to guard (but on H2, which lets one write), and {@code releaseLock} throws {@link IllegalStateException}.
 *
 * <p>A guard that fails has rolled the transaction back. It can't be committed any more, even if the exception is caught: the commit
 * throws {@code UnexpectedRollbackException} or the guard's own exception, as the transaction manager has it. That holds inside a
 * nested transaction (a savepoint) too: the lock is gone, so the outer transaction ends with it. A lock that was released in a
 * nested transaction which then rolls back is held again.
 *
 * <p>A rollback to a savepoint, a change of the schema and a deadlock (both on MySQL, MariaDB and H2) may end a guard before
 * the commit. So each is repeated just before it. Release last: what is done in this way after {@code releaseLock}, in
 * SQL of the application's own, ends the guard unnoticed.
 *
 * <p>Exceptions are those of {@link LockManager}, not Spring's. Thread-safe.
 */
public final class TransactionalLockManager implements LockManager {

    private final LockManager manager;
    private final SpringTransactions transactions;

    /**
     * A lock manager that follows the transactions of this data source.
     *
     * @param manager whose locks they are; best with a small pool of its own, so that it never waits for a connection that
     *     a transaction has
     * @param transactions the data source of the transactions, which has the tables of the locks too
     */
    public TransactionalLockManager(LockManager manager, DataSource transactions) {
        this.manager = Objects.requireNonNull(manager, "manager");
        this.transactions = new SpringTransactions(transactions);
    }

    @Override
    public LockId tryLock(String type, String id) {
        return manager.tryLock(type, id);
    }

    @Override
    public LockId tryLock(String type, String id, String owner) {
        return manager.tryLock(type, id, owner);
    }

    @Override
    public LockId tryLock(String type, String id, String owner, Duration duration) {
        return manager.tryLock(type, id, owner, duration);
    }

    @Override
    public LockId tryLock(String type, String id, String owner, Duration duration, @Nullable String note) {
        return manager.tryLock(type, id, owner, duration, note);
    }

    @Override
    public Optional<LockId> takeOver(
            LockData seen, String owner, Duration duration, @Nullable String note, String reason) {
        return manager.takeOver(seen, owner, duration, note, reason);
    }

    /**
     * Inside a transaction guards it, as {@link #checkLock(Connection, LockId)} does, and once more just before its commit, which
     * throws if another got the lock meanwhile; otherwise whether the lock is held now.
     *
     * @throws IllegalStateException if the transaction is not one of the data source
     */
    @Override
    public LockData checkLock(LockId lockId) {
        Objects.requireNonNull(lockId, "lockId");
        return transactions.isActive()
                ? transactions.guarded(connection -> check(connection, lockId))
                : manager.checkLock(lockId);
    }

    /** A read-only transaction can't lock a row, and has nothing to guard. */
    private LockData check(Connection connection, LockId lockId) {
        boolean readOnly;
        try {
            readOnly = SpringTransactions.refusesWrites(connection);
        } catch (TransactionSystemException e) {
            throw new LockingFailException(lockId.name(), lockId.name() + " could not be guarded", e);
        }
        if (readOnly) {
            return manager.checkLock(lockId);
        }
        LockData held = manager.checkLock(connection, lockId);
        transactions.guardAgain(this, lockId, manager::checkLock);
        return held;
    }

    @Override
    public LockData checkLock(Connection connection, LockId lockId) {
        return manager.checkLock(connection, lockId);
    }

    /**
     * Inside a transaction guards it and frees the lock with its commit; otherwise frees it now.
     *
     * @throws IllegalStateException if the transaction is read-only, or not one of the data source
     */
    @Override
    public void releaseLock(LockId lockId) {
        Objects.requireNonNull(lockId, "lockId");
        if (!transactions.isActive()) {
            manager.releaseLock(lockId);
            return;
        }
        if (SpringTransactions.isReadOnly()) {
            throw new IllegalStateException(
                    lockId.name() + " can't be released in a read-only transaction, with whose commit it"
                            + " would be free. Make the transaction writable, or release outside of it.");
        }
        transactions.guarded(connection -> {
            manager.releaseLock(connection, lockId);
            transactions.released(this, lockId, manager::checkLock);
            return true;
        });
        transactions.requireInTime(lockId.name() + " was released");
    }

    @Override
    public void releaseLock(Connection connection, LockId lockId) {
        manager.releaseLock(connection, lockId);
    }

    @Override
    public Instant extendLockExpiration(LockId lockId, Duration increment) {
        return manager.extendLockExpiration(lockId, increment);
    }

    @Override
    public Instant renew(LockId lockId, Duration duration) {
        return manager.renew(lockId, duration);
    }

    @Override
    public Instant leave(LockId lockId, Duration within) {
        return manager.leave(lockId, within);
    }
}
