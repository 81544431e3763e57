// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.benchmarks.places.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The document's {@code GET_LOCK}, and PostgreSQL's advisory lock: each holder and each waiter has a connection of its own. */
final class SeedConnectionEach implements Contestant {

    private final HikariDataSource pool;
    private final String take;
    private final String release;

    SeedConnectionEach(Place place) {
        this.pool = place.pool();
        this.take = place.isPostgres()
                ? "SELECT 1 FROM pg_advisory_lock(hashtextextended(?, 0))"
                : "SELECT GET_LOCK(?, 120)";
        this.release = place.isPostgres()
                ? "SELECT CASE WHEN pg_advisory_unlock(hashtextextended(?, 0)) THEN 1 ELSE 0 END"
                : "SELECT RELEASE_LOCK(?)";
    }

    @Override
    public Section section(String name) {
        return new Section() {
            private @Nullable Connection connection;

            @Override
            public void enter() throws Exception {
                connection = pool.getConnection();
                ask(connection, take, name);
            }

            @Override
            public void leave() throws Exception {
                if (connection != null) {
                    ask(connection, release, name);
                    connection.close();
                }
            }
        };
    }

    private static void ask(Connection connection, String sql, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next() || row.getInt(1) != 1) {
                    throw new SQLException("The server did not answer 1");
                }
            }
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
