// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens sessions that hold locks, and finds out first whether such locks can be trusted there. Thread-safe. */
public final class SessionStore {

    private final DataSource dataSource;
    private final Tables tables;
    private final SessionStatements sql;

    /** The name space of the locks, as soon as a session was found fit to hold them. */
    private volatile @Nullable String space;

    /** The same, as soon as a caller's session was: that may be behind a pooler. */
    private volatile @Nullable String callersSpace;

    /** Over the data source that is set aside for session locks. */
    public SessionStore(DataSource dataSource, Dialect dialect, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.sql = new SessionStatements(dialect.sessions(tables.sessions()));
    }

    /** Whether one session holds many locks. */
    public boolean shares() {
        return sql.shares();
    }

    /** The key of a lock; known after a session was opened once. */
    public Object key(LockName name) {
        String known = space;
        if (known == null) {
            throw new IllegalStateException("No session was opened yet");
        }
        return sql.key(known, name);
    }

    /**
     * Opens a session.
     *
     * @throws LockingFailException if session locks can't be trusted on this database
     */
    public SessionLink open() {
        SessionLink link = connect();
        boolean done = false;
        try {
            link.open();
            if (space == null) {
                String found = link.on(this::fitSpace);
                if (sql.dialect().mayBePooled()) {
                    requireOwnSession(link, ThreadLocalRandom.current().nextLong());
                }
                space = found;
            }
            done = true;
            return link;
        } finally {
            if (!done) {
                link.close();
            }
        }
    }

    private SessionLink connect() {
        Connection connection;
        try {
            connection = dataSource.getConnection();
        } catch (SQLException e) {
            throw new DatabaseException(
                    Meaning.FAILED, "No connection for session locks could be had: " + e.getMessage(), e);
        }
        try {
            return new SessionLink(connection, sql);
        } catch (SQLException e) {
            throw Database.failure(e);
        }
    }

    /**
     * The session of a caller's connection.
     *
     * @throws IllegalStateException if it is in auto-commit mode
     */
    public CallerSession on(Connection connection, LockName name) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(
                        "The connection is in auto-commit mode: there is no transaction to hold " + name
                                + ". Call setAutoCommit(false) first");
            }
            @Nullable String known = callersSpace;
            if (known == null) {
                known = fitSpace(connection);
                callersSpace = known;
            }
            return new CallerSession(connection, sql, sql.key(known, name));
        } catch (SQLException e) {
            throw Database.failure(e);
        }
    }

    /** The name space of the locks, on a server that is fit for them. */
    private String fitSpace(Connection connection) throws SQLException {
        Map<String, String> circumstances = new HashMap<>();
        try (PreparedStatement statement =
                        connection.prepareStatement(sql.dialect().circumstances());
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                circumstances.put(rows.getString(1), String.valueOf(rows.getString(2)));
            }
        }
        refuse(sql.dialect().unfit(circumstances));
        @Nullable String schema = tables.schema();
        return (schema != null ? schema : connection.getCatalog() + "." + connection.getSchema()) + "."
                + tables.prefix();
    }

    /** Behind a pooler in transaction mode two clients may run in one session, or one in two: a lock taken by both tells. */
    private void requireOwnSession(SessionLink first, Object key) {
        SessionLink second = connect();
        try {
            second.open();
            boolean taken = first.attempt(key);
            boolean takenTwice = second.attempt(key);
            boolean givenBack = first.release(key);
            refuse(
                    taken && !takenTwice && givenBack
                            ? null
                            : "a pooler in transaction mode stands before the server, so a lock stays with whoever comes next");
        } catch (DatabaseException e) {
            refuse(
                    SessionLink.isBroken(e)
                            ? "the session changes between statements, as behind a pooler in transaction mode"
                            : null);
            throw e;
        } finally {
            second.close();
        }
    }

    private static void refuse(@Nullable String reason) {
        if (reason != null) {
            throw new LockingFailException(
                    null,
                    "Session locks can't be trusted here: " + reason
                            + ". Use a lease instead (locks.lease(name)), or give session locks a data source of their own that"
                            + " leads straight to the primary (sessionDataSource)",
                    null);
        }
    }
}
