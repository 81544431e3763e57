// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What each server knows about the sessions of a database, and how it ends them. */
enum Sessions {
    POSTGRESQL("""
            SELECT pid, client_port, state LIKE 'idle in transaction%', concat_ws(': ', state, query)
              FROM pg_stat_activity
             WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()""", "SELECT pg_terminate_backend(%d)", "SELECT pg_backend_pid()"),
    MYSQL("""
            SELECT id, substring_index(host, ':', -1), false, concat_ws(': ', command, info)
              FROM information_schema.processlist
             WHERE db = database() AND id <> connection_id()""", "KILL %d", "SELECT connection_id()"),
    H2("""
            SELECT session_id, regexp_replace(client_addr, '.*:', ''), contains_uncommitted, executing_statement
              FROM information_schema.sessions
             WHERE session_id <> session_id()""", "CALL ABORT_SESSION(%d)", "CALL SESSION_ID()");

    static final Duration PICTURE_AGE = Duration.ofMillis(110);

    private static final Duration END = Duration.ofSeconds(5);
    private static final int MYSQL_NO_SUCH_THREAD = 1094;

    private final String list;
    private final String kill;
    private final String self;

    Sessions(String list, String kill, String self) {
        this.list = list;
        this.kill = kill;
        this.self = self;
    }

    /**
     * @param clientPort the port of the client's end, or 0 when there is none
     * @param inTransaction whether it has an open transaction
     */
    record Session(long id, int clientPort, boolean inTransaction, String activity) {

        Session inTransaction(boolean open) {
            return new Session(id, clientPort, open, activity);
        }
    }

    static Sessions of(String name) {
        return switch (name) {
            case "postgresql" -> POSTGRESQL;
            case "mysql", "mariadb" -> MYSQL;
            case "h2" -> H2;
            default -> throw new IllegalArgumentException("Unknown database '" + name + "'");
        };
    }

    long id(Connection of) throws SQLException {
        try (Statement statement = of.createStatement();
                ResultSet row = statement.executeQuery(self)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** All sessions of the database but the asking one. */
    List<Session> others(Connection by) throws SQLException {
        List<Session> sessions = new ArrayList<>();
        try (Statement statement = by.createStatement();
                ResultSet rows = statement.executeQuery(list)) {
            while (rows.next()) {
                sessions.add(new Session(
                        rows.getLong(1), rows.getInt(2), rows.getBoolean(3), String.valueOf(rows.getString(4))));
            }
        }
        return sessions;
    }

    /**
     * The sessions in a transaction, where {@link #others} can't tell. The server shows a picture that it takes anew only when nobody
     * has looked for {@link #PICTURE_AGE}: whoever looks more often sees the past.
     */
    Set<Long> inTransaction(Connection by) throws SQLException {
        Set<Long> ids = new HashSet<>();
        if (this == MYSQL) {
            try (Statement statement = by.createStatement();
                    ResultSet rows =
                            statement.executeQuery("SELECT trx_mysql_thread_id FROM information_schema.innodb_trx")) {
                while (rows.next()) {
                    ids.add(rows.getLong(1));
                }
            }
        }
        return ids;
    }

    /** Ends all other sessions and returns when the server has forgotten them. */
    void killOthers(Connection by) throws SQLException {
        Set<Long> doomed = others(by).stream().map(Session::id).collect(Collectors.toSet());
        for (long id : doomed) {
            try (Statement statement = by.createStatement()) {
                statement.execute(String.format(Locale.ROOT, kill, id));
            } catch (SQLException e) {
                if (this != MYSQL || e.getErrorCode() != MYSQL_NO_SUCH_THREAD) {
                    throw e;
                }
            }
        }
        long deadline = System.nanoTime() + END.toNanos();
        while (others(by).stream().anyMatch(session -> doomed.contains(session.id()))) {
            if (System.nanoTime() > deadline) {
                throw new SQLException("Sessions " + doomed + " were killed and still are there after " + END);
            }
            pause();
        }
    }

    private static void pause() throws SQLException {
        try {
            TimeUnit.MILLISECONDS.sleep(5);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("Interrupted while sessions ended", e);
        }
    }
}
