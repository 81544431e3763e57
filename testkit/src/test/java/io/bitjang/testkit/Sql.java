// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;

/** Short forms for tests. */
final class Sql {

    private Sql() {}

    static String one(TestDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return one(connection, sql);
        }
    }

    static String one(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    /** The databases that were chosen for this run. */
    static Stream<String> databases() {
        return TestDatabases.selected().stream();
    }

    /** Those that are reached over the network: H2 as a server. */
    static Stream<String> servers() {
        return databases().map(name -> name.equals("h2") ? "h2-server" : name);
    }

    /** Both: H2 in this process, and as a server. */
    static Stream<String> databasesAndServers() {
        return Stream.concat(databases(), servers()).distinct();
    }

    static void freshTable(TestDatabase database, String name, String columns) {
        database.execute("DROP TABLE IF EXISTS " + name);
        database.execute("CREATE TABLE " + name + "(" + columns + ")");
    }
}
