// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.benchmarks.places.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.UUID;

/** The document's {@code locks} table: look, insert; delete. A transaction each. It can't wait. */
final class SeedLocksTable implements Contestant {

    private static final long FIVE_MINUTES = 300_000;

    private final HikariDataSource pool;

    SeedLocksTable(Place place) throws Exception {
        this.pool = place.pool();
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            Tables.create(
                    statement,
                    "locks",
                    "(type varchar(100), id varchar(100), lockid varchar(100) UNIQUE, expiration_time "
                            + (place.isMySqlFamily() ? "datetime" : "timestamp") + ", PRIMARY KEY (type, id))");
        }
    }

    @Override
    public Section section(String name) {
        return new Section() {
            private String lockId = "";

            @Override
            public void enter() throws Exception {
                Polling.until(() -> {
                    lockId = UUID.randomUUID().toString();
                    return tryLock(name, lockId);
                });
            }

            @Override
            public void leave() throws Exception {
                try (Connection connection = pool.getConnection()) {
                    connection.setAutoCommit(false);
                    try (PreparedStatement delete = connection.prepareStatement("delete from locks where lockid = ?")) {
                        delete.setString(1, lockId);
                        delete.executeUpdate();
                    }
                    connection.commit();
                    connection.setAutoCommit(true);
                }
            }
        };
    }

    private boolean tryLock(String name, String lockId) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement look = connection.prepareStatement("select * from locks where type = ? and id = ?");
                    PreparedStatement insert = connection.prepareStatement("insert into locks values (?, ?, ?, ?)")) {
                look.setString(1, "bench");
                look.setString(2, name);
                boolean taken;
                try (ResultSet row = look.executeQuery()) {
                    taken = row.next();
                }
                if (!taken) {
                    insert.setString(1, "bench");
                    insert.setString(2, name);
                    insert.setString(3, lockId);
                    insert.setTimestamp(4, new Timestamp(System.currentTimeMillis() + FIVE_MINUTES));
                    insert.executeUpdate();
                }
                connection.commit();
                return !taken;
            } catch (SQLException e) {
                // another was faster, or a deadlock
                connection.rollback();
                return false;
            } finally {
                connection.setAutoCommit(true);
            }
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
