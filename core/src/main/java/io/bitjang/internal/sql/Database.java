// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockException;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialect.Notifying;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Log;
import io.bitjang.internal.work.Waiter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs statements, each on a connection of its own that goes back as it came: no setting is changed, and where the pool hands out
 * connections with auto-commit off, the statement is committed explicitly. Thread-safe.
 */
public final class Database implements Runner {

    /** A statement like any other: what fails after the server was told to commit may have been committed. */
    private static final Ask<Boolean> COMMIT =
            new Ask<>(Sql.parse("COMMIT"), Params.none(), (statements, sql, params) -> statements.commit());

    private final DataSource dataSource;
    private final Dialect dialect;
    private final Ticker ticker;

    /** Makes a runner of statements over this data source. */
    public Database(DataSource dataSource, Dialect dialect, Ticker ticker) {
        this.ticker = ticker;
        this.dataSource = dataSource;
        this.dialect = dialect;
    }

    /** Returns the dialect of this database. */
    public Dialect dialect() {
        return dialect;
    }

    /** Listens for notifications on a connection of its own, which the caller closes. */
    public Channel listen(Notifying notifying) {
        Connection connection = open();
        try {
            return new Channel(connection, notifying);
        } catch (Throwable e) {
            quietly("Closing a connection", connection::close);
            throw failure(e);
        }
    }

    /** Runs the plan in the caller's transaction, which is neither committed nor rolled back here. */
    public <T extends @Nullable Object> T on(Connection connection, Plan<T> plan) {
        return plan.run(new Statements(connection));
    }

    @Override
    public <A> A ask(Ask<A> ask) {
        return visit(false, new Plan.Asked<>(ask));
    }

    @Override
    public boolean pause(long millis) {
        return ticker.paused(millis);
    }

    @Override
    public <T extends @Nullable Object> T visit(boolean together, Plan<T> plan) {
        Connection connection = open();
        boolean switched = false;
        try {
            boolean autoCommit = connection.getAutoCommit();
            switched = together && autoCommit;
            if (switched) {
                connection.setAutoCommit(false);
            }
            return complete(connection, together || !autoCommit, plan);
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

    private <T extends @Nullable Object> T complete(Connection connection, boolean commit, Plan<T> plan)
            throws SQLException {
        if (!commit) {
            return plan.run(new Statements(connection));
        }
        try {
            Statements statements = new Statements(connection);
            statements.begin();
            T result = plan.run(statements);
            statements.ask(COMMIT);
            return result;
        } catch (Throwable e) {
            quietly("Rolling back", connection::rollback);
            throw e;
        }
    }

    private Connection open() {
        return open(dataSource, "No connection to the database could be had");
    }

    /** Opens a connection, or throws the reason why there is none. */
    static Connection open(DataSource source, String otherwise) {
        try {
            @Nullable Connection connection = source.getConnection();
            if (connection == null) {
                throw new SQLException("the data source gave null");
            }
            return connection;
        } catch (Throwable e) {
            SQLException cause = e instanceof SQLException known ? known : new SQLException(e);
            // a pool that has no connection to give; if it can't make one, it tells why
            boolean empty = cause instanceof SQLTransientConnectionException && cause.getCause() == null;
            throw new DatabaseException(
                    Meaning.FAILED,
                    otherwise + ": " + cause.getMessage() + (empty ? ". " + Waiter.SMALL_POOL : ""),
                    cause);
        }
    }

    /**
     * Makes the exception for what comes out of a data source, a driver or whatever is wrapped around them, which may be
     * anything. Something other than an SQLException tells nothing about the statement: it may have been done.
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
        return new DatabaseException(Meaning.UNKNOWN, "The data source or driver failed: " + e, new SQLException(e));
    }

    /** A step whose failure changes nothing. */
    interface Step {
        /** Takes the step. */
        void take() throws SQLException;
    }

    static void quietly(String what, Step step) {
        try {
            step.take();
        } catch (Throwable e) {
            Log.debug(what + " failed", e);
        }
    }

    /** Runs plans and their statements on one open connection. Not thread-safe. */
    public final class Statements implements Runner {

        private final Connection connection;

        /** Whether the present statement was run: whatever fails after that does not undo it. */
        private boolean done;

        Statements(Connection connection) {
            this.connection = connection;
        }

        @Override
        public <A> A ask(Ask<A> ask) {
            done = false;
            try {
                return ask.on(this);
            } catch (Throwable e) {
                DatabaseException failure = failure(e);
                throw done && failure.meaning() == Meaning.FAILED
                        ? new DatabaseException(Meaning.UNKNOWN, "" + failure.getMessage(), failure.sqlException())
                        : failure;
            }
        }

        @Override
        public boolean pause(long millis) {
            return ticker.paused(millis);
        }

        @Override
        public <T extends @Nullable Object> T visit(boolean together, Plan<T> plan) {
            if (together) {
                throw new IllegalStateException("A transaction inside of a visit");
            }
            return plan.run(this);
        }

        /** Begins a transaction of our own, on a connection without auto-commit. */
        void begin() throws SQLException {
            Optional<String> first = dialect.beforeTransaction();
            if (first.isPresent()) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(first.get());
                }
            }
        }

        /** Commits the transaction: what a standby did not confirm is told here, not by the statement. */
        private boolean commit() throws SQLException {
            if (dialect.warnsWhenNotReplicated()) {
                connection.clearWarnings();
            }
            done = true;
            connection.commit();
            if (dialect.warnsWhenNotReplicated()) {
                requireReplicated(connection.getWarnings());
            }
            return true;
        }

        /** Runs a statement that answers with rows. */
        public <T> List<T> query(Sql sql, Params params, Ask.RowReader<T> reader) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql.text())) {
                // not executeQuery: MySQL's driver refuses it for what MariaDB answers with rows, as INSERT ...
                // RETURNING
                params.bind(connection, statement, sql.parameters()).execute();
                done = true;
                List<T> result = new ArrayList<>();
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next()) {
                        result.add(reader.read(rows));
                    }
                }
                requireReplicated(statement.getWarnings());
                return result;
            }
        }

        /** Runs a statement that answers with the number of changed rows. */
        public int update(Sql sql, Params params) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql.text())) {
                int count = params.bind(connection, statement, sql.parameters()).executeUpdate();
                done = true;
                requireReplicated(statement.getWarnings());
                return count;
            }
        }

        /** Runs an update that answers with one number, or none if it changed nothing. */
        public OptionalLong number(Sql sql, Params params) throws SQLException {
            if (!dialect.answersByGeneratedKey()) {
                List<Long> rows = query(sql, params, row -> row.getLong(1));
                return rows.isEmpty() ? OptionalLong.empty() : OptionalLong.of(rows.get(0));
            }
            try (PreparedStatement statement =
                    connection.prepareStatement(sql.text(), Statement.RETURN_GENERATED_KEYS)) {
                int count = params.bind(connection, statement, sql.parameters()).executeUpdate();
                done = true;
                try (ResultSet keys = statement.getGeneratedKeys()) {
                    // only the first key is real: Connector/J makes up one for each further row
                    return count > 0 && keys.next() ? OptionalLong.of(keys.getLong(1)) : OptionalLong.empty();
                }
            }
        }

        /**
         * Refuses a change that no standby has confirmed: PostgreSQL with synchronous standbys answers a cancelled wait for them with
         * success and the warning 01000: the change may be lost at a failover, so it counts as an answer that never came.
         */
        private void requireReplicated(@Nullable SQLWarning warning) throws SQLException {
            if (dialect.warnsWhenNotReplicated() && warning != null && "01000".equals(warning.getSQLState())) {
                throw new SQLTransientConnectionException(
                        "The change was not confirmed by a standby: " + warning.getMessage(), "08007");
            }
        }
    }
}
