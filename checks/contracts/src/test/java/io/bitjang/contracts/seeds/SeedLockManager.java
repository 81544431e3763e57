// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * The lock manager for edit screens as the document has it, over plain JDBC: each method in a transaction of its own (there:
 * REQUIRES_NEW), the same statements in the same order. Only the clock can be given.
 */
final class SeedLockManager {

    static final class AlreadyLocked extends RuntimeException {}

    static final class LockingFail extends RuntimeException {
        LockingFail(Throwable cause) {
            super(cause);
        }
    }

    static final class NoLock extends RuntimeException {}

    private record LockData(String type, String id, long expirationTime) {}

    private interface Work<T> {
        T with(Connection connection) throws SQLException;
    }

    private static final Duration LOCK_TIMEOUT = Duration.ofMinutes(5);

    private final DataSource dataSource;
    private final Clock clock;

    SeedLockManager(DataSource dataSource, Clock clock) {
        this.dataSource = dataSource;
        this.clock = clock;
    }

    String tryLock(String type, String id) {
        return requiresNew(connection -> {
            Optional<LockData> present = find(connection, "select * from locks where type = ? and id = ?", type, id);
            if (present.isPresent()) {
                throw new AlreadyLocked();
            }
            String lockId = UUID.randomUUID().toString();
            try {
                update(
                        connection,
                        "insert into locks values (?, ?, ?, ?)",
                        type,
                        id,
                        lockId,
                        new Timestamp(clock.millis() + LOCK_TIMEOUT.toMillis()));
            } catch (SQLException e) {
                if (isDuplicateKey(e)) {
                    throw new LockingFail(e);
                }
                throw e;
            }
            return lockId;
        });
    }

    void checkLock(String lockId) {
        requiresNew(connection -> data(connection, lockId));
    }

    void extendLockExpiration(String lockId, Duration increment) {
        requiresNew(connection -> {
            LockData data = data(connection, lockId);
            return update(
                    connection,
                    "update locks set expiration_time = ? where type = ? and id = ?",
                    new Timestamp(data.expirationTime + increment.toMillis()),
                    data.type,
                    data.id);
        });
    }

    void releaseLock(String lockId) {
        requiresNew(connection -> update(connection, "delete from locks where lockid = ?", lockId));
    }

    private LockData data(Connection connection, String lockId) throws SQLException {
        return find(connection, "select * from locks where lockid = ?", lockId).orElseThrow(NoLock::new);
    }

    private Optional<LockData> find(Connection connection, String sql, Object... parameters) throws SQLException {
        LockData data;
        try (PreparedStatement statement = prepare(connection, sql, parameters);
                ResultSet rows = statement.executeQuery()) {
            if (!rows.next()) {
                return Optional.empty();
            }
            data = new LockData(
                    rows.getString("type"),
                    rows.getString("id"),
                    rows.getTimestamp("expiration_time").getTime());
        }
        if (data.expirationTime < clock.millis()) {
            update(connection, "delete from locks where type = ? and id = ?", data.type, data.id);
            return Optional.empty();
        }
        return Optional.of(data);
    }

    private static int update(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters)) {
            return statement.executeUpdate();
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        return statement;
    }

    private static boolean isDuplicateKey(SQLException e) {
        return e instanceof SQLIntegrityConstraintViolationException || "23505".equals(e.getSQLState());
    }

    private <T> T requiresNew(Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try {
                T result = work.with(connection);
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
