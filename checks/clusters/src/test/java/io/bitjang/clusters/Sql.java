// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Short forms for tests. */
final class Sql {

    private Sql() {}

    static String one(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The answer, or the refusal. */
    static String answer(Connection connection, String sql) {
        try {
            return one(connection, sql);
        } catch (SQLException e) {
            return e.toString();
        }
    }
}
