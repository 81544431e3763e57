// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDateTime;
import javax.sql.DataSource;

/** The lock by owner as the document has it, in Java: the same statements, branches and catch clauses. Only the clock can be given. */
final class SeedDistLock {

    private record LockOwner(String owner, LocalDateTime expiry) {}

    private final DataSource dataSource;
    private final Clock clock;

    SeedDistLock(DataSource dataSource, Clock clock) {
        this.dataSource = dataSource;
        this.clock = clock;
    }

    boolean tryLock(String name, String owner, Duration duration) {
        Connection connection = null;
        boolean owned;
        try {
            connection = dataSource.getConnection();
            connection.setAutoCommit(false);
            LockOwner holder = holder(connection, name);
            if (holder == null || holder.owner == null) {
                insert(connection, name, owner, duration);
                owned = true;
            } else if (holder.owner.equals(owner) || isExpired(holder)) {
                update(connection, name, owner, expiry(duration));
                owned = true;
            } else {
                owned = false;
            }
            connection.commit();
        } catch (Exception e) {
            rollback(connection);
            owned = false;
        } finally {
            close(connection);
        }
        return owned;
    }

    void unlock(String name, String owner) {
        Connection connection = null;
        try {
            connection = dataSource.getConnection();
            connection.setAutoCommit(false);
            LockOwner holder = holder(connection, name);
            if (holder == null || !owner.equals(holder.owner)) {
                throw new IllegalStateException("no lock owner");
            }
            if (isExpired(holder)) {
                throw new IllegalStateException("lock is expired");
            }
            update(connection, name, null, null);
            connection.commit();
        } catch (SQLException e) {
            rollback(connection);
            throw new IllegalStateException("fail to unlock: " + e.getMessage(), e);
        } finally {
            close(connection);
        }
    }

    private boolean isExpired(LockOwner holder) {
        return holder.expiry != null && holder.expiry.isBefore(LocalDateTime.now(clock));
    }

    private static LockOwner holder(Connection connection, String name) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("select * from dist_lock where name = ? for update")) {
            statement.setString(1, name);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    return null;
                }
                Timestamp expiry = rows.getTimestamp("expiry");
                return new LockOwner(rows.getString("owner"), expiry == null ? null : expiry.toLocalDateTime());
            }
        }
    }

    private void insert(Connection connection, String name, String owner, Duration duration) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("insert into dist_lock values (?, ?, ?)")) {
            statement.setString(1, name);
            statement.setString(2, owner);
            statement.setTimestamp(3, expiry(duration));
            statement.executeUpdate();
        }
    }

    private static void update(Connection connection, String name, String owner, Timestamp expiry) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("update dist_lock set owner = ?, expiry = ? where name = ?")) {
            statement.setString(1, owner);
            statement.setTimestamp(2, expiry);
            statement.setString(3, name);
            statement.executeUpdate();
        }
    }

    private Timestamp expiry(Duration duration) {
        return Timestamp.valueOf(LocalDateTime.now(clock).plusSeconds(duration.getSeconds()));
    }

    private static void rollback(Connection connection) {
        try {
            if (connection != null) {
                connection.rollback();
            }
        } catch (SQLException e) {
            // as in the document
        }
    }

    private static void close(Connection connection) {
        if (connection != null) {
            try {
                connection.setAutoCommit(false);
            } catch (SQLException e) {
                // as in the document
            }
            try {
                connection.close();
            } catch (SQLException e) {
                // as in the document
            }
        }
    }
}
