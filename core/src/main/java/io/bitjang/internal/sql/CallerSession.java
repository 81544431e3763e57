// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.work.Log;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Locks on the session of a caller's own connection, for its transaction: the database frees them with the transaction where it
 * can; otherwise they are given back when the transaction has ended. Not thread-safe.
 */
public final class CallerSession {

    private final Connection connection;
    private final SessionStatements sql;
    private final List<Object> taken = new ArrayList<>();
    private @Nullable Throwable spoiledBy;
    private boolean mustEnd;

    CallerSession(Connection connection, SessionStatements sql) {
        this.connection = connection;
        this.sql = sql;
    }

    /** Takes the lock if it is free. */
    public boolean attempt(Object key) {
        if (sql.dialect.shares()) {
            return take(sql.attemptInTransaction.orElse(sql.attempt), key);
        }
        // no row: one of our own, which the transaction has locked by inserting it
        return took(key, ask(sql.attempt, key) || update(sql.prepare.orElseThrow(), key) > 0);
    }

    /** Waits for the lock for a second at most, where the server can without a change of the transaction's settings. */
    public boolean await(Object key) {
        return take(sql.await, key);
    }

    private boolean take(Sql statement, Object key) {
        try {
            return took(key, ask(statement, key));
        } catch (DatabaseException e) {
            if (!freedByTheDatabase()) {
                disown(key);
            }
            throw e;
        }
    }

    /** Gives back a lock that may have been taken: the answer that never came may have been yes. */
    private void disown(Object key) {
        if (taken.contains(key)) {
            // how often the session has it can't be asked
            mustEnd = true;
            return;
        }
        try {
            ask(sql.release, key);
        } catch (DatabaseException e) {
            Log.debug("A lock may be left on a session, which is ended", e);
            endSession();
        }
    }

    private boolean took(Object key, boolean yes) {
        return yes && taken.add(key);
    }

    /** Marks the transaction as one that can't be committed any more. */
    public void spoil(Throwable because) {
        spoiledBy = because;
    }

    /** Returns why the transaction can't be committed; null if it can. */
    public @Nullable Throwable spoiledBy() {
        return spoiledBy;
    }

    /** Tells whether {@link #await} works here. */
    public boolean canWait() {
        return !freedByTheDatabase();
    }

    /** Commits the transaction, then frees the locks. What was committed stays so, whatever becomes of the release. */
    public void commit() {
        try {
            if (!sql.dialect.shares()) {
                taken.forEach(key -> ask(sql.release, key));
            }
            connection.commit();
        } catch (Throwable e) {
            DatabaseException failure = Database.failure(e);
            rollback(failure);
            throw failure;
        }
        release();
    }

    /** Rolls back because of this, then frees the locks. */
    public void rollback(Throwable because) {
        try {
            connection.rollback();
        } catch (Throwable e) {
            because.addSuppressed(e);
        }
        release();
    }

    private boolean freedByTheDatabase() {
        return sql.attemptInTransaction.isPresent();
    }

    /** Gives the locks back, or ends the session: it must not go to the next user of the pool with a lock. */
    private void release() {
        List<Object> keys = freedByTheDatabase() ? List.of() : List.copyOf(taken);
        taken.clear();
        try {
            if (keys.stream().allMatch(key -> ask(sql.release, key)) && !mustEnd) {
                return;
            }
        } catch (DatabaseException e) {
            Log.debug("A lock could not be given back, its session is ended", e);
        }
        endSession();
    }

    private void endSession() {
        try {
            connection.abort(Runnable::run);
        } catch (Throwable e) {
            Log.warn("A session could not be ended that may still have a lock", e);
        }
    }

    private boolean ask(Sql statement, Object key) {
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
        } catch (Throwable e) {
            DatabaseException failure = Database.failure(e);
            if (failure.meaning() == DatabaseException.Meaning.BUSY) {
                return false;
            }
            throw failure;
        }
    }

    private int update(Sql statement, Object key) {
        try (PreparedStatement ready = connection.prepareStatement(statement.text())) {
            return SessionStatements.key(key)
                    .bind(connection, ready, statement.parameters())
                    .executeUpdate();
        } catch (Throwable e) {
            DatabaseException failure = Database.failure(e);
            if (failure.meaning() == DatabaseException.Meaning.BUSY) {
                return 0;
            }
            throw failure;
        }
    }
}
