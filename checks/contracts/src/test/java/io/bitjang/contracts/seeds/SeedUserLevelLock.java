// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** The user-level lock as the document has it: its first version, with a connection for each statement, and its final one. */
final class SeedUserLevelLock {

    private final DataSource dataSource;
    private final String getLock;
    private final String releaseLock;

    /** @param product PostgreSQL has the same locks under other names */
    SeedUserLevelLock(DataSource dataSource, String product) {
        boolean advisory = product.equals("postgresql");
        this.dataSource = dataSource;
        this.getLock = advisory
                ? "SELECT CASE WHEN pg_try_advisory_lock(hashtextextended(?, ?)) THEN 1 ELSE 0 END"
                : "SELECT GET_LOCK(?, ?)";
        this.releaseLock = advisory
                ? "SELECT CASE WHEN pg_advisory_unlock(hashtextextended(?, 0)) THEN 1 ELSE 0 END"
                : "SELECT RELEASE_LOCK(?)";
    }

    /** The first version: a template takes a connection from the pool for each statement and gives it back. */
    <T> T executeWithTemplate(String name, int seconds, Supplier<T> supplier) {
        try {
            try (Connection connection = dataSource.getConnection()) {
                getLock(connection, name, seconds);
            }
            return supplier.get();
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        } finally {
            try (Connection connection = dataSource.getConnection()) {
                ask(connection, releaseLock, name, null);
            } catch (SQLException e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        }
    }

    /** The final version: one connection for both, and for all that happens in between. */
    <T> T executeWithLock(String name, int seconds, Supplier<T> supplier) {
        try (Connection connection = dataSource.getConnection()) {
            try {
                getLock(connection, name, seconds);
                return supplier.get();
            } finally {
                releaseLock(connection, name);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    void getLock(Connection connection, String name, int seconds) throws SQLException {
        requireOne("GetLock", ask(connection, getLock, name, seconds));
    }

    void releaseLock(Connection connection, String name) throws SQLException {
        requireOne("ReleaseLock", ask(connection, releaseLock, name, null));
    }

    private static int ask(Connection connection, String sql, String name, Integer seconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            if (seconds != null) {
                statement.setInt(2, sql.contains("advisory") ? 0 : seconds);
            }
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getInt(1);
            }
        }
    }

    private static void requireOne(String type, int result) {
        if (result != 1) {
            throw new IllegalStateException(
                    "USER LEVEL LOCK: the result is not 1. type = " + type + ", result = " + result);
        }
    }
}
