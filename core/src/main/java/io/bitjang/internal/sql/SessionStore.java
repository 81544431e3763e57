// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.time.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens sessions that hold locks, and finds out first whether such locks can be trusted there. Thread-safe. */
public final class SessionStore {

    /** The name space of locks that are in the tables: those keep them apart. */
    private static final String NO_SPACE = "";

    private final Ticker ticker;
    private final DataSource business;
    private final DataSource dataSource;
    private final Tables tables;
    private final Dialect dialect;
    private final SessionStatements sql;

    /** The name space of the locks, the same for all who use these tables. */
    private volatile @Nullable String space;

    private volatile boolean callersFit;
    private volatile boolean unpooled;

    /**
     * Makes a store with connections of one data source, for those who use the tables of another.
     *
     * @param ticker by which connections are watched
     * @param business where the tables are
     * @param dataSource what is set aside for session locks
     */
    public SessionStore(Ticker ticker, DataSource business, DataSource dataSource, Dialect dialect, Tables tables) {
        this.ticker = ticker;
        this.business = business;
        this.dataSource = dataSource;
        this.tables = tables;
        this.dialect = dialect;
        this.sql = new SessionStatements(dialect.sessions(tables.sessions()));
    }

    /** Tells whether one session holds many locks. */
    public boolean shares() {
        return sql.dialect.shares();
    }

    /** Computes the key of a lock. */
    public Object key(LockName name) {
        return sql.key(space(), name);
    }

    /** Computes the key of the gate before a lease of this name. */
    public Object gateKey(LockName name) {
        return sql.key(space() + ".gate", name);
    }

    private String space() {
        @Nullable String known = space;
        if (known == null) {
            known = findSpace();
            space = known;
        }
        return known;
    }

    private String findSpace() {
        try (Connection connection = business.getConnection()) {
            String found = spaceOn(connection);
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
            return found;
        } catch (Throwable e) {
            throw Database.failure(e);
        }
    }

    private String spaceOn(Connection connection) throws SQLException {
        if (sql.space.isEmpty()) {
            return NO_SPACE;
        }
        Sql question = sql.space.get();
        Params params = Params.none().set("schema", tables.schema()).set("prefix", tables.prefix());
        try (PreparedStatement statement = connection.prepareStatement(question.text());
                ResultSet row = params.bind(connection, statement, question.parameters())
                        .executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }

    /** Opens a connection for a session; nothing was asked on it yet. */
    public SessionLink connect() {
        if (dataSource != business) {
            // first, because it takes a connection too
            space();
        }
        Connection connection = Database.open(dataSource, "No connection for session locks could be had");
        try {
            return new SessionLink(ticker, connection, sql);
        } catch (Throwable e) {
            Database.quietly("Closing a connection", connection::close);
            throw Database.failure(e);
        }
    }

    /**
     * Begins a session.
     *
     * @throws LockingFailException if session locks can't be trusted on this database
     */
    public void open(SessionLink link) {
        link.open();
        if (space == null) {
            // on the link itself: it is watched, and cut if the server does not answer
            space = link.on(this::spaceOn);
        }
        link.on(this::requireFit);
        if (sql.dialect.mayBePooled() && !unpooled) {
            requireOwnSession(link, ThreadLocalRandom.current().nextLong());
            unpooled = true;
        }
    }

    /**
     * Returns the session of a caller's connection.
     *
     * @throws IllegalStateException if it is in auto-commit mode, or its transaction would not see what was committed while it
     *     waited
     */
    public CallerSession on(Connection connection, LockName name) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(
                        "The connection is in auto-commit mode: there is no transaction to hold " + name
                                + ". Call setAutoCommit(false) first");
            }
            if (sql.dialect.readsAsOfItsFirstStatement()
                    && connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
                throw new IllegalStateException(
                        "A transaction above READ COMMITTED would not see what was committed while" + " it waited for "
                                + name + ". Take the lock before it begins, with acquire(Wait)");
            }
            refuse(dialect.unfit(connection));
            if (!callersFit) {
                requireFit(connection);
                callersFit = true;
            }
            return new CallerSession(connection, sql);
        } catch (SQLException e) {
            throw Database.failure(e);
        }
    }

    private boolean requireFit(Connection connection) throws SQLException {
        Optional<String> question = sql.dialect.circumstances();
        if (question.isEmpty()) {
            return true;
        }
        Map<String, String> circumstances = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(question.get());
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                circumstances.put(rows.getString(1), String.valueOf(rows.getString(2)));
            }
        }
        refuse(sql.dialect.unfit(circumstances));
        return true;
    }

    /** Refuses a pooler in transaction mode: two clients may run in one session, or one in two, as a lock taken by both tells. */
    private void requireOwnSession(SessionLink first, Object key) {
        SessionLink second = connect();
        first.beside = second;
        try {
            // before the second is asked: fails if the first was cut when it did not take the second with it
            boolean taken = first.attempt(key);
            second.open();
            boolean takenTwice = second.attempt(key);
            boolean givenBack = first.release(key);
            refuse(
                    taken && !takenTwice && givenBack
                            ? null
                            : "a pooler in transaction mode stands before the server, so a lock stays with whoever comes next");
        } catch (DatabaseException e) {
            refuse(
                    SessionLink.isBroken(e) && !first.isDead()
                            ? "the session changes between statements, as behind a pooler in transaction mode"
                            : null);
            throw e;
        } finally {
            second.close();
            first.beside = null;
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
