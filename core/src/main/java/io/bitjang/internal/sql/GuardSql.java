// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockException;
import io.bitjang.LockingFailException;
import io.bitjang.StaleSnapshotException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The guard inside the caller's transaction.
 *
 * <p>It pins the lock's row: every statement that gives the lock to someone new locks the row exclusively first, so it waits for,
 * or passes by, this transaction. And it proves that the transaction's snapshot sees the grant; otherwise the transaction might
 * work on what the former holder has changed since. If either fails, the transaction is rolled back, so that what it has done
 * until then can't be committed even by a caller who ignores the exception. Thread-safe.
 */
public final class GuardSql {

    private record Pinned(LockRow row, @Nullable String seen) {}

    private final Database database;
    private final LockSql sql;

    GuardSql(Database database, LockSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /** Refuses a transaction that could not be guarded; one that is open is rolled back. */
    public void requireTransaction(Connection connection) {
        boolean autoCommit;
        @Nullable String unfit;
        try {
            autoCommit = connection.getAutoCommit();
            unfit = autoCommit ? null : unfit(connection);
        } catch (Throwable e) {
            throw refuse(
                    connection,
                    new IllegalStateException(
                            "The connection is not usable, the transaction was rolled back. " + e.getMessage(), e));
        }
        if (autoCommit) {
            throw new IllegalStateException("A guard needs a transaction: this connection is in auto-commit mode. "
                    + "Call setAutoCommit(false), or begin a transaction, before the change and the guard.");
        }
        if (unfit != null) {
            throw refuse(
                    connection,
                    new IllegalStateException("No guard holds here, the transaction was rolled back: " + unfit));
        }
    }

    /** Says why no guard holds in a transaction on this connection; null if one does. */
    private @Nullable String unfit(Connection connection) throws SQLException {
        @Nullable String unfit = database.dialect().unfit(connection);
        OptionalInt unproven = database.dialect().isolationOfManySnapshots();
        // asked only where it matters: elsewhere asking may cost a round trip
        return unproven.isPresent() && unproven.getAsInt() == connection.getTransactionIsolation()
                ? "at this isolation level it can't be proved that all that the transaction has read is younger than the grant, because "
                        + database.dialect().id()
                        + " takes a snapshot of each table by itself. Use READ COMMITTED or SERIALIZABLE."
                : unfit;
    }

    /**
     * Pins the lock's row until the caller's transaction ends.
     *
     * @param lost is told if the lock is not held any more, before that is thrown
     */
    public LockRow pin(Connection connection, GrantKey key, Consumer<Gone> lost) {
        Params params = Params.of(key.name()).set("lockId", key.secret());
        List<Pinned> rows;
        try {
            rows = database.on(
                    connection,
                    Plan.ask(Ask.rows(sql.guard, params, row -> new Pinned(LockRow.read(row), row.getString("seen")))));
        } catch (DatabaseException e) {
            if (e.meaning() == DatabaseException.Meaning.REPEAT) {
                // a deadlock, or at REPEATABLE READ: the row has changed since the snapshot
                throw whyNot(connection, key, e, lost);
            }
            // whoever has the row locked may be the next holder
            throw refuse(connection, failed(key, "guarded", e));
        }
        if (rows.isEmpty()) {
            throw whyNot(connection, key, null, lost);
        }
        Pinned pinned = rows.get(0);
        if (!key.secret().equals(pinned.seen)) {
            throw refuse(connection, new StaleSnapshotException(key.name()));
        }
        return pinned.row;
    }

    /** Frees the lock with the caller's transaction, which has pinned its row. */
    public void release(Connection connection, GrantKey key) {
        Params params = Params.of(key.name()).set("lockId", key.secret()).set("mark", 0);
        try {
            if (database.on(connection, Plan.ask(Ask.number(sql.releaseWithCaller, params)))
                    .isPresent()) {
                return;
            }
        } catch (DatabaseException e) {
            throw refuse(connection, failed(key, "released", e));
        }
        throw whyNot(connection, key, null, gone -> {});
    }

    private static LockingFailException failed(GrantKey key, String what, DatabaseException e) {
        return new LockingFailException(
                key.name(),
                key.name() + " could not be " + what + ", the transaction was rolled back. " + e.getMessage(),
                e.sqlException());
    }

    /** Rolls the caller's transaction back and returns the reason, to be thrown, which says so. */
    public static <E extends RuntimeException> E refuse(Connection connection, E reason) {
        try {
            connection.rollback();
        } catch (Throwable e) {
            reason.addSuppressed(e);
        }
        return reason;
    }

    /**
     * Rolls the transaction back and says why the lock can't be guarded. If the row, read anew after the rollback, still carries
     * the key's secret, a failure was the reason, or the snapshot is old: it shows an older grant than the key's, or no row, which
     * may also have been swept. Otherwise the lock is gone.
     */
    private LockException whyNot(
            Connection connection, GrantKey key, @Nullable DatabaseException cause, Consumer<Gone> lost) {
        @Nullable LockRow row = null;
        try {
            row = look(connection, key).orElse(null);
        } catch (DatabaseException e) {
            if (cause == null) {
                return refuse(connection, failed(key, "guarded", e));
            }
            // most often because the failure has ended the transaction
        }
        boolean stale = row == null ? cause == null : row.fence() < key.fence();
        boolean certain = cause == null && !stale;
        LockException otherwise = refuse(
                connection,
                cause == null || stale ? new StaleSnapshotException(key.name()) : failed(key, "guarded", cause));
        try {
            row = look(connection, key).orElse(null);
        } catch (DatabaseException e) {
            if (!certain) {
                // nobody answers: it is not known to be lost
                return refuse(connection, otherwise);
            }
        }
        if (!certain && row != null && row.isOf(key.secret())) {
            return refuse(connection, otherwise);
        }
        Gone gone = Objects.requireNonNullElse(Gone.of(row, key), Gone.lost("the guard found that it is gone"));
        lost.accept(gone);
        return refuse(connection, gone.notHeld(key, ", the transaction was rolled back", cause));
    }

    private Optional<LockRow> look(Connection connection, GrantKey key) {
        return database.on(connection, Plan.ask(Ask.rows(sql.read, Params.of(key.name()), LockRow::read))).stream()
                .findFirst();
    }
}
