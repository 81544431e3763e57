// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A lock on the session of a caller's own connection, for its transaction: the database frees it with the transaction where it
 * can; otherwise it is given back when the transaction has ended. Not thread-safe.
 */
public final class CallerSession {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    private final Connection connection;
    private final SessionStatements sql;
    private final Object key;
    private boolean taken;

    CallerSession(Connection connection, SessionStatements sql, Object key) {
        this.connection = connection;
        this.sql = sql;
        this.key = key;
    }

    /** Takes the lock if it is free. */
    public boolean attempt() {
        if (!sql.shares() && ask(sql.attempt)) {
            taken = true;
        } else if (!sql.shares()) {
            // no row: one of our own, which the transaction has locked by inserting it
            taken = update(sql.prepare) > 0;
        } else {
            taken = ask(freedByTheDatabase() ? sql.attemptInTransaction : sql.attempt);
        }
        return taken;
    }

    /** Waits for a second at most, where the server can without a change of the transaction's settings. */
    public boolean await() {
        taken = ask(sql.await);
        return taken;
    }

    /** Whether {@link #await} works here. */
    public boolean canWait() {
        return !freedByTheDatabase();
    }

    /** Commits, then frees the lock. What was committed stays so, whatever becomes of the release. */
    public void commit() {
        try {
            if (!sql.shares()) {
                ask(sql.release);
            }
            connection.commit();
        } catch (SQLException e) {
            throw rolledBack(Database.failure(e));
        } catch (DatabaseException e) {
            throw rolledBack(e);
        }
        release();
    }

    private DatabaseException rolledBack(DatabaseException because) {
        rollback(because);
        return because;
    }

    /** Rolls back because of this, then frees the lock. */
    public void rollback(Throwable because) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
        release();
    }

    private boolean freedByTheDatabase() {
        return !sql.attemptInTransaction.text().isEmpty();
    }

    /** A session that can't give the lock back must not go to the next user of the pool with it. */
    private void release() {
        if (!taken || freedByTheDatabase()) {
            return;
        }
        taken = false;
        try {
            if (ask(sql.release)) {
                return;
            }
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.DEBUG, "A lock could not be given back, its session is ended", e);
        }
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            LOG.log(System.Logger.Level.WARNING, "A session could not be ended that may still have a lock", e);
        }
    }

    private boolean ask(Sql statement) {
        Params params = SessionStatements.key(key).set("seconds", 1);
        try (PreparedStatement ready = connection.prepareStatement(statement.text());
                ResultSet row =
                        params.bind(connection, ready, statement.parameters()).executeQuery()) {
            if (!row.next()) {
                return false;
            }
            boolean yes = row.getLong(1) > 0;
            if (row.wasNull() && statement != sql.release) {
                throw new SQLException(
                        "The server answered NULL: it is out of memory, or was told to end the statement");
            }
            return yes;
        } catch (SQLException e) {
            DatabaseException failure = Database.failure(e);
            if (failure.meaning() == DatabaseException.Meaning.BUSY) {
                return false;
            }
            throw failure;
        }
    }

    private int update(Sql statement) {
        try (PreparedStatement ready = connection.prepareStatement(statement.text())) {
            return SessionStatements.key(key)
                    .bind(connection, ready, statement.parameters())
                    .executeUpdate();
        } catch (SQLException e) {
            DatabaseException failure = Database.failure(e);
            if (failure.meaning() == DatabaseException.Meaning.BUSY) {
                return 0;
            }
            throw failure;
        }
    }
}
