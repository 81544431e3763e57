// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import io.bitjang.Wait;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Locks rows until the transaction ends, with a wait that is kept to the millisecond: the limit is part of the statement, so no
 * setting of the session is changed; on PostgreSQL, which has no such form, it is a setting of the transaction, and put back.
 * Immutable.
 */
enum RowLocks {
    POSTGRESQL {
        @Override
        String statement(Rows rows, long millis) {
            // strong enough to meet other changes, and weak enough for the foreign keys of new children
            return rows.select("", "") + " FOR NO KEY UPDATE" + (millis == 0 ? " NOWAIT" : "");
        }

        @Override
        <T> List<T> attempt(Connection connection, Rows rows, Reader<T> reader, long millis) throws SQLException {
            if (millis == 0) {
                return super.attempt(connection, rows, reader, millis);
            }
            // lock_timeout counts anew for each row, and is no limit of the whole
            Limits before = limit(connection, new Limits("0", millis == FOREVER ? "0" : Long.toString(millis)));
            // if it fails, the transaction is over, and the settings with it
            List<T> result = super.attempt(connection, rows, reader, millis);
            limit(connection, before);
            return result;
        }

        private record Limits(String lock, String statement) {}

        private static Limits limit(Connection connection, Limits limits) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(
                    "SELECT current_setting('lock_timeout'), current_setting('statement_timeout'),"
                            + " set_config('lock_timeout', ?, true), set_config('statement_timeout', ?, true)")) {
                statement.setString(1, limits.lock);
                statement.setString(2, limits.statement);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return new Limits(row.getString(1), row.getString(2));
                }
            }
        }

        @Override
        Outcome outcome(SQLException e) {
            return switch (String.valueOf(e.getSQLState())) {
                case "55P03", "57014" -> Outcome.NOT_IN_TIME;
                case "40P01" -> Outcome.DEADLOCK;
                case "40001" -> Outcome.STALE;
                default -> Outcome.FAILED;
            };
        }
    },

    MYSQL {
        @Override
        String statement(Rows rows, long millis) {
            String limit = millis == 0 || millis == FOREVER ? "" : "/*+ MAX_EXECUTION_TIME(" + millis + ") */ ";
            return rows.select(limit, BY_KEY) + " FOR UPDATE" + (millis == 0 ? " NOWAIT" : "");
        }

        @Override
        Outcome outcome(SQLException e) {
            return switch (e.getErrorCode()) {
                case 3572, 3024 -> Outcome.NOT_IN_TIME;
                case 1205 -> Outcome.ENDED_BY_SERVER;
                case 1213 -> Outcome.DEADLOCK;
                default -> Outcome.FAILED;
            };
        }

        /** The server's own limit ends the statement only, unless it is set up to end the transaction. */
        @Override
        boolean mayGoOn(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT @@innodb_rollback_on_timeout")) {
                return row.next() && row.getInt(1) == 0;
            }
        }
    },

    MARIADB {
        @Override
        String statement(Rows rows, long millis) {
            if (millis == 0) {
                return rows.select("", BY_KEY) + " FOR UPDATE NOWAIT";
            }
            String limit =
                    millis == FOREVER ? "0" : String.format(Locale.ROOT, "%d.%03d", millis / 1000, millis % 1000);
            return "SET STATEMENT max_statement_time = " + limit + ", innodb_lock_wait_timeout = 100000000 FOR "
                    + rows.select("", BY_KEY) + " FOR UPDATE";
        }

        @Override
        Outcome outcome(SQLException e) {
            return switch (e.getErrorCode()) {
                case 1205, 1969 -> Outcome.NOT_IN_TIME;
                case 1213 -> Outcome.DEADLOCK;
                case 1020 -> Outcome.STALE;
                default -> Outcome.FAILED;
            };
        }
    },

    H2 {
        @Override
        String statement(Rows rows, long millis) {
            long most = Math.min(millis, MOST_MILLIS);
            return rows.select("", "") + " FOR UPDATE"
                    + (millis == 0 ? " NOWAIT" : String.format(Locale.ROOT, " WAIT %d.%03d", most / 1000, most % 1000));
        }

        @Override
        Outcome outcome(SQLException e) {
            return switch (e.getErrorCode()) {
                case 50200 -> Outcome.NOT_IN_TIME;
                // one code for both; a server of its own does not send the cause along
                case 40001 ->
                    e.getCause() == null || String.valueOf(e.getCause()).contains("deadlock victim")
                            ? Outcome.DEADLOCK
                            : Outcome.STALE;
                default -> Outcome.FAILED;
            };
        }
    };

    /** Without it, a small table would be scanned, in the order of nothing in particular. */
    private static final String BY_KEY = " FORCE INDEX (PRIMARY)";

    private static final long FOREVER = Long.MAX_VALUE;

    /** Most servers limit the whole statement, which takes a while even if nobody has the row. */
    private static final long LEAST_MILLIS = 20;

    /** No server counts further than this. */
    private static final long MOST_MILLIS = Duration.ofDays(20).toMillis();

    /** What became of an attempt that did not lock. */
    enum Outcome {
        /** Another transaction had it for too long. */
        NOT_IN_TIME,
        /** The same, but by a limit of the server's. */
        ENDED_BY_SERVER,
        DEADLOCK,
        /** The row has changed since the transaction's snapshot. */
        STALE,
        FAILED
    }

    /** What was not locked, and why. */
    static final class NotLocked extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final Outcome outcome;

        NotLocked(Outcome outcome, SQLException cause) {
            super(cause);
            this.outcome = outcome;
        }

        Outcome outcome() {
            return outcome;
        }
    }

    /** Reads a row that was locked. */
    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Sets the values of the keys. */
    interface Binder {
        void bind(PreparedStatement statement) throws SQLException;
    }

    /**
     * The rows to lock, in the order of their keys.
     *
     * @param columns what to read of them
     * @param count how many keys there are
     */
    record Rows(String table, List<String> keys, List<String> columns, int count, Binder binder) {

        private String select(String hint, String index) {
            String key = keys.size() == 1 ? keys.get(0) : "(" + String.join(", ", keys) + ")";
            String mark = keys.size() == 1 ? "?" : "(" + String.join(", ", Collections.nCopies(keys.size(), "?")) + ")";
            String select = "SELECT " + hint + String.join(", ", columns) + " FROM " + table;
            return count == 1
                    ? select + " WHERE " + key + " = " + mark
                    : select + index + " WHERE " + key + " IN ("
                            + String.join(", ", Collections.nCopies(count, mark)) + ") ORDER BY "
                            + String.join(", ", keys);
        }
    }

    /** Which one it is. */
    static RowLocks of(Connection connection) throws SQLException {
        DatabaseMetaData about = connection.getMetaData();
        String product = about.getDatabaseProductName();
        return switch (product) {
            case "PostgreSQL" -> POSTGRESQL;
            case "MariaDB" -> MARIADB;
            case "MySQL" -> about.getDatabaseProductVersion().contains("MariaDB") ? MARIADB : MYSQL;
            case "H2" -> H2;
            default ->
                throw new UnsupportedOperationException(
                        "Aggregates can be locked on PostgreSQL, MySQL, MariaDB and H2, not on " + product);
        };
    }

    abstract String statement(Rows rows, long millis);

    abstract Outcome outcome(SQLException e);

    boolean mayGoOn(Connection connection) throws SQLException {
        return false;
    }

    /** Locks those that exist. */
    <T> List<T> lock(Connection connection, Rows rows, Reader<T> reader, Wait wait) throws SQLException {
        long deadline = System.nanoTime() + wait.limit().map(RowLocks::nanos).orElse(Long.MAX_VALUE / 2);
        long millis = wait.limit().map(RowLocks::millis).orElse(FOREVER);
        while (true) {
            try {
                return attempt(connection, rows, reader, millis);
            } catch (SQLException e) {
                Outcome outcome = outcome(e);
                long left = (deadline - System.nanoTime()) / 1_000_000;
                if (outcome != Outcome.ENDED_BY_SERVER || left <= 0 || !mayGoOn(connection)) {
                    throw new NotLocked(outcome, e);
                }
                millis = wait.limit().isPresent() ? left : FOREVER;
            }
        }
    }

    private static long nanos(Duration limit) {
        return Math.min(limit.toSeconds(), Duration.ofDays(365).toSeconds()) * 1_000_000_000L + limit.getNano();
    }

    private static long millis(Duration limit) {
        if (limit.isZero()) {
            return 0;
        }
        return limit.compareTo(Duration.ofMillis(MOST_MILLIS)) > 0
                ? MOST_MILLIS
                : Math.max(LEAST_MILLIS, limit.toMillis());
    }

    <T> List<T> attempt(Connection connection, Rows rows, Reader<T> reader, long millis) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statement(rows, millis))) {
            rows.binder().bind(statement);
            List<T> result = new ArrayList<>();
            try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                    result.add(reader.read(found));
                }
            }
            return result;
        }
    }
}
