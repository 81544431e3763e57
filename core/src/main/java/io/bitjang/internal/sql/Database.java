// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockException;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs statements, each on a connection of its own that goes back as it came: no setting is changed, and where the pool hands out
 * connections with auto-commit off, the statement is committed explicitly. Thread-safe.
 */
public final class Database {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    /** Work on an open connection. */
    public interface Work<T> {
        /** Does it. */
        T with(Session session) throws SQLException;
    }

    private final DataSource dataSource;
    private final Dialect dialect;

    /** Over this data source. */
    public Database(DataSource dataSource, Dialect dialect) {
        this.dataSource = dataSource;
        this.dialect = dialect;
    }

    /** What is different here. */
    public Dialect dialect() {
        return dialect;
    }

    /** Listens for notifications on a connection of its own, which the caller closes. */
    public Channel listen(String channel) {
        Connection connection = open();
        try {
            return new Channel(connection, dialect.notificationDriver(), channel);
        } catch (Throwable e) {
            quietly("Closing a connection", connection::close);
            throw failure(e);
        }
    }

    /** Runs one statement in a transaction of its own. */
    public <T> T run(Work<T> work) {
        return run(work, false);
    }

    /** Runs several statements in one transaction of their own. */
    public <T> T transaction(Work<T> work) {
        return run(work, true);
    }

    private <T> T run(Work<T> work, boolean several) {
        Connection connection = open();
        boolean switched = false;
        try {
            boolean autoCommit = connection.getAutoCommit();
            switched = several && autoCommit;
            if (switched) {
                connection.setAutoCommit(false);
            }
            return complete(connection, several || !autoCommit, work);
        } catch (Throwable e) {
            throw failure(e);
        } finally {
            // what the work came to is known by now: that the connection broke afterwards does not change it
            if (switched) {
                quietly("Switching auto-commit on again", () -> connection.setAutoCommit(true));
            }
            quietly("Closing a connection", connection::close);
        }
    }

    /** Runs a statement in the caller's transaction, which is neither committed nor rolled back here. */
    public <T> T on(Connection connection, Work<T> work) {
        try {
            return work.with(new Session(connection, dialect));
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    private <T> T complete(Connection connection, boolean commit, Work<T> work) throws SQLException {
        boolean done = false;
        try {
            Session session = new Session(connection, dialect);
            if (commit) {
                session.begin();
            }
            T result = work.with(session);
            if (commit) {
                session.commit();
            }
            done = true;
            return result;
        } finally {
            if (!done && commit) {
                quietly("Rolling back", connection::rollback);
            }
        }
    }

    private Connection open() {
        return open(dataSource, "No connection to the database could be had");
    }

    /** A connection, or the reason why there is none. */
    static Connection open(DataSource source, String otherwise) {
        try {
            @Nullable Connection connection = source.getConnection();
            if (connection == null) {
                throw new SQLException("the data source gave null");
            }
            return connection;
        } catch (Throwable e) {
            SQLException cause = e instanceof SQLException known ? known : foreign(e);
            throw new DatabaseException(Meaning.FAILED, otherwise + ": " + cause.getMessage(), cause);
        }
    }

    /**
     * What comes out of a data source, a driver or whatever is wrapped around them, which may be anything. Something other than an
     * SQLException tells nothing about the statement: it may have been done.
     */
    static DatabaseException failure(Throwable e) {
        if (e instanceof DatabaseException known) {
            return known;
        }
        if (e instanceof LockException ours) {
            throw ours;
        }
        if (e instanceof SQLException sql) {
            String what = SqlErrors.isWrongClock(sql)
                    ? "This session's clock is not the server's: someone has SET timestamp. "
                    : "The database failed: ";
            return new DatabaseException(SqlErrors.meaningOf(sql), what + sql.getMessage(), sql);
        }
        return new DatabaseException(Meaning.UNKNOWN, "The data source or its driver failed: " + e, foreign(e));
    }

    private static SQLException foreign(Throwable e) {
        return new SQLException(e.toString(), e);
    }

    /** A step whose failure changes nothing. */
    interface Step {
        /** Takes it. */
        void take() throws SQLException;
    }

    static void quietly(String what, Step step) {
        try {
            step.take();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.DEBUG, what + " failed", e);
        }
    }
}
