// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Short looks into a member of a cluster. */
final class Probe {

    private static final long PATIENCE_SECONDS = 60;

    private Probe() {}

    /** The second column by the first. */
    static Map<String, String> map(Connection connection, String sql) throws SQLException {
        Map<String, String> values = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.put(rows.getString(1), String.valueOf(rows.getString(2)));
            }
        }
        return values;
    }

    /** The first column of the first row, or "" if there is none. */
    static String one(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? String.valueOf(rows.getString(1)) : "";
        }
    }

    /** Returns when the condition holds. */
    static void await(Connection connection, String condition, String what) throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!one(connection, condition).matches("1|t|true")) {
            if (System.nanoTime() > deadline) {
                throw new SQLException("After " + PATIENCE_SECONDS + " seconds there is not yet " + what);
            }
            Cluster.pause(100);
        }
    }
}
