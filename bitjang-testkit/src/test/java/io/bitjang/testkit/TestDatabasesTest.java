// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestDatabasesTest {

    @ParameterizedTest
    @ValueSource(strings = {"h2", "h2-server", "postgresql", "mysql", "mariadb"})
    void every_database_answers(String name) throws SQLException {
        assertThat(query(TestDatabases.byName(name), "SELECT 1")).isEqualTo("1");
    }

    private static String query(TestDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
