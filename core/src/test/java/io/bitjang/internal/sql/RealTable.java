// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database.Statements;
import io.bitjang.internal.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The table of locks on a server, with connections that each have a thread, so that a statement may wait. The first connections have
 * transactions; the others commit each statement. Used by one thread.
 */
final class RealTable implements AutoCloseable {

    static final int TRANSACTIONS = 2;
    static final int CONNECTIONS = 4;

    /** What a held lock of a group is told by, on both sides. */
    private static final String HELD = "one of them is held";

    /** PostgreSQL's bound for the wait of a statement. */
    private static final Pattern BOUND = Pattern.compile("\\b150\\b");

    private final Tables tables;
    private final List<Connection> connections = new ArrayList<>();
    private final List<ExecutorService> threads = new ArrayList<>();
    private final LockSql sql;
    private final Database database;
    final Dialect dialect;

    RealTable(DataSource source, Tables tables) throws SQLException {
        this.tables = tables;
        this.dialect = Dialects.detect(source);
        this.sql = new LockSql(dialect, tables);
        this.database = new Database(source, dialect, Ticker.SYSTEM);
        for (int i = 0; i <= CONNECTIONS; i++) {
            Connection connection = source.getConnection();
            connections.add(connection);
            if (i < TRANSACTIONS) {
                // the simulation has no snapshots: what they do to a guard is shown by GuardIsolationContract
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                connection.setAutoCommit(false);
            }
            if (dialect.id().equals("h2")) {
                execute(connection, "SET LOCK_TIMEOUT 30000");
            }
            threads.add(Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task, "history");
                thread.setDaemon(true);
                return thread;
            }));
        }
    }

    /** How the simulation calls such a server. */
    SimTable.Server server() {
        return switch (dialect.id()) {
            case "postgresql" -> SimTable.Server.KEY_SHARE;
            case "mysql" -> SimTable.Server.READS_FIRST;
            case "mariadb" -> SimTable.Server.FAILS;
            default -> SimTable.Server.SKIPS;
        };
    }

    /** H2's clock stands still inside of a transaction, which the engine never depends on. */
    boolean hasClockThatStandsStill() {
        return dialect.id().equals("h2");
    }

    void clear() throws SQLException {
        execute(observer(), "DELETE FROM " + tables.locks());
    }

    long now() throws SQLException {
        return observed("SELECT " + dialect.now());
    }

    /** How many statements wait for a row, as the server says. */
    long waiting() throws SQLException {
        return switch (dialect.id()) {
            case "postgresql" -> observed("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted");
            case "mysql", "mariadb" ->
                database.new Statements(observer())
                        .query(
                                new Sql("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'", List.of()),
                                Params.none(),
                                row -> row.getLong(2))
                        .get(0);
            default -> observed("SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL");
        };
    }

    /** Whether the server itself ends the wait of this statement after a moment. */
    boolean bounds(TableOp op) {
        return op.sql().apply(sql).text().contains("lock_timeout");
    }

    /**
     * Begins a statement on a connection.
     *
     * @param patient whether it waits as long as it takes; otherwise it waits hardly at all, where its wait is bounded
     */
    Future<Object> begin(int on, TableOp op, boolean patient) {
        return threads.get(on).submit(() -> {
            Statements statements = database.new Statements(connections.get(on));
            Sql statement = op.sql().apply(sql);
            Sql bounded = new Sql(
                    BOUND.matcher(statement.text()).replaceAll(patient ? "30000" : "1"), statement.parameters());
            try {
                return op.ask(bounded, name -> row(statements, name)).on(statements);
            } catch (SQLException e) {
                return meaningOf(e);
            }
        });
    }

    private @Nullable LockRow row(Statements statements, LockName name) {
        try {
            List<LockRow> rows = statements.query(sql.read, Params.of(name), LockRow::read);
            return rows.isEmpty() ? null : rows.get(0);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a failure means to the engine. */
    static Object meaningOf(SQLException e) {
        if (SqlErrors.isOutOfRange(e)) {
            return HELD;
        }
        DatabaseException.Meaning meaning = SqlErrors.meaningOf(e);
        return meaning == DatabaseException.Meaning.BUSY ? meaning : meaning + ": " + e;
    }

    void end(int on, boolean commit) throws SQLException {
        if (commit) {
            connections.get(on).commit();
        } else {
            connections.get(on).rollback();
        }
    }

    private long observed(String query) throws SQLException {
        return database.new Statements(observer())
                .query(new Sql(query, List.of()), Params.none(), row -> row.getLong(1))
                .get(0);
    }

    private Connection observer() {
        return connections.get(CONNECTIONS);
    }

    private static void execute(Connection connection, String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }

    @Override
    public void close() throws SQLException {
        threads.forEach(ExecutorService::shutdown);
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
