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
import org.jspecify.annotations.Nullable;

/**
 * The document's {@code dist_lock} table: select for update, then change, a transaction each. A row that was given back is used
 * again here (the document inserts it a second time, which fails). It can't wait.
 */
final class SeedDistLock implements Contestant {

    private static final long THIRTY_SECONDS = 30_000;

    private final HikariDataSource pool;

    SeedDistLock(Place place) throws Exception {
        this.pool = place.pool();
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            Tables.create(
                    statement,
                    "dist_lock",
                    "(name varchar(100) PRIMARY KEY, owner varchar(100), expiry "
                            + (place.isMySqlFamily() ? "datetime" : "timestamp") + ")");
        }
    }

    @Override
    public Section section(String name) {
        String owner = UUID.randomUUID().toString();
        return new Section() {
            @Override
            public void enter() throws Exception {
                Polling.until(() -> change(name, owner, owner));
            }

            @Override
            public void leave() throws Exception {
                change(name, owner, null);
            }
        };
    }

    private boolean change(String name, String me, @Nullable String newOwner) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try {
                boolean mine = false;
                boolean present;
                try (PreparedStatement select =
                        connection.prepareStatement("select * from dist_lock where name = ? for update")) {
                    select.setString(1, name);
                    try (ResultSet row = select.executeQuery()) {
                        present = row.next();
                        if (present) {
                            String owner = row.getString("owner");
                            Timestamp expiry = row.getTimestamp("expiry");
                            mine = owner == null || owner.equals(me) || expiry.getTime() < System.currentTimeMillis();
                        }
                    }
                }
                if (!present || mine) {
                    try (PreparedStatement write = connection.prepareStatement(
                            present
                                    ? "update dist_lock set owner = ?, expiry = ? where name = ?"
                                    : "insert into dist_lock (owner, expiry, name) values (?, ?, ?)")) {
                        write.setString(1, newOwner);
                        write.setTimestamp(
                                2,
                                newOwner == null ? null : new Timestamp(System.currentTimeMillis() + THIRTY_SECONDS));
                        write.setString(3, name);
                        write.executeUpdate();
                    }
                }
                connection.commit();
                return !present || mine;
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
