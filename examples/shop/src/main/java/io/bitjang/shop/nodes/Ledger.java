// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.nodes;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The books that the job keeps, line by line: one without a guard, one with. Plain JDBC. */
final class Ledger {

    static final String PLAIN = "plain";
    static final String GUARDED = "guarded";

    private Ledger() {}

    static long lastLine(Connection connection, String book) throws SQLException {
        String sql = "SELECT COALESCE(MAX(line), 0) FROM shop_ledger WHERE book = ? AND refused IS NULL";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, book);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    static void write(Connection connection, String book, long line, String node, long fence, @Nullable String refused)
            throws SQLException {
        String sql =
                "INSERT INTO shop_ledger (id, book, line, node, fence, at_ms, refused) VALUES (?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, UUID.randomUUID().toString());
            statement.setString(2, book);
            statement.setLong(3, line);
            statement.setString(4, node);
            statement.setLong(5, fence);
            statement.setLong(6, System.currentTimeMillis());
            statement.setString(7, refused);
            statement.executeUpdate();
        }
    }
}
