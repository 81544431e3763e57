// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.testkit.CountingDataSource.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.h2.jdbc.JdbcConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakCheck.class)
class CountingDataSourceTest {

    private final CountingDataSource source =
            new CountingDataSource(TestDatabases.h2().dataSource());

    @Test
    void every_execution_is_recorded_with_its_text_and_kind() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                PreparedStatement prepared = connection.prepareStatement("SELECT ?")) {
            statement.execute("SELECT 1");
            statement.executeQuery("SELECT 2");
            statement.executeUpdate("SET @x = 1");
            prepared.setInt(1, 3);
            prepared.executeQuery();
            prepared.execute();
        }

        assertThat(source.statements()).containsExactly("SELECT 1", "SELECT 2", "SET @x = 1", "SELECT ?", "SELECT ?");
        assertThat(source.roundTrips()).isEqualTo(5);
        assertThat(source.count(Kind.EXECUTE)).isEqualTo(2);
        assertThat(source.count(Kind.QUERY)).isEqualTo(2);
        assertThat(source.count(Kind.UPDATE)).isEqualTo(1);
    }

    @Test
    void batch_is_one_round_trip_of_many_statements() throws SQLException {
        Sql.freshTable(TestDatabases.h2(), "batched", "id int");
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO batched VALUES (?)")) {
            for (int id = 0; id < 3; id++) {
                insert.setInt(1, id);
                insert.addBatch();
            }
            insert.executeBatch();
        }

        assertThat(source.roundTrips()).isEqualTo(1);
        assertThat(source.statements()).hasSize(3).containsOnly("INSERT INTO batched VALUES (?)");
        assertThat(source.count(Kind.BATCH)).isEqualTo(1);
    }

    @Test
    void commits_rollbacks_and_settings_are_counted_apart() throws SQLException {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            connection.commit();
            connection.rollback();
            connection.rollback();
            connection.setReadOnly(false);
            connection.setNetworkTimeout(Runnable::run, 1000);
        }

        assertThat(source.commits()).isEqualTo(1);
        assertThat(source.rollbacks()).isEqualTo(2);
        assertThat(source.statements()).isEmpty();
        assertThat(source.settingsChanged())
                .containsExactly(
                        "setAutoCommit(false)",
                        "setTransactionIsolation(8)",
                        "setReadOnly(false)",
                        "setNetworkTimeout(1000)");
    }

    @Test
    void highest_number_of_open_connections_is_kept() throws SQLException {
        Connection first = source.getConnection();
        Connection second = source.getConnection();
        assertThat(source.open()).isEqualTo(2);
        second.close();
        second.close();
        assertThat(source.open()).isEqualTo(1);
        source.getConnection().close();
        assertThat(source.maxOpen()).isEqualTo(2);
        assertThat(source.opened()).isEqualTo(3);

        source.reset();
        assertThat(source.maxOpen()).isEqualTo(1);
        first.close();
        assertThat(source.open()).isZero();
    }

    @Test
    void hooks_stand_before_and_after_each_execution() throws SQLException {
        List<String> seen = new ArrayList<>();
        source.onStatement(sql -> seen.add("before " + sql));
        source.afterStatement(sql -> seen.add("after " + sql));
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            Sql.one(connection, "SELECT 1");
            connection.commit();
        }

        assertThat(seen).containsExactly("before SELECT 1", "after SELECT 1", "before COMMIT", "after COMMIT");
    }

    @Test
    void hook_fails_a_statement_before_the_database_sees_it() throws SQLException {
        Sql.freshTable(TestDatabases.h2(), "hooked", "id int");
        source.onStatement(sql -> {
            throw new SQLException("the cable is cut", "08006");
        });
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.executeUpdate("INSERT INTO hooked VALUES (1)"))
                    .isInstanceOf(SQLException.class)
                    .hasMessage("the cable is cut");
        }

        assertThat(Sql.one(TestDatabases.h2(), "SELECT count(*) FROM hooked")).isEqualTo("0");
    }

    @Test
    void exceptions_of_the_driver_pass_bare() throws SQLException {
        try (Connection connection = source.getConnection()) {
            assertThatThrownBy(() -> Sql.one(connection, "SELECT nothing_like_it"))
                    .isInstanceOf(java.sql.SQLSyntaxErrorException.class);
        }
    }

    @Test
    void connection_unwraps_to_the_drivers_own() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(connection.isWrapperFor(JdbcConnection.class)).isTrue();
            assertThat(connection.unwrap(JdbcConnection.class)).isInstanceOf(JdbcConnection.class);
            assertThat(statement.getConnection()).isSameAs(connection).isEqualTo(connection);
        }
    }

    @OnDatabase("postgresql")
    @Test
    void postgresql_connection_unwraps_to_the_drivers_own(TestDatabase database) throws SQLException {
        try (Connection connection = new CountingDataSource(database.dataSource()).getConnection()) {
            assertThat(connection.unwrap(org.postgresql.PGConnection.class).getBackendPID())
                    .isPositive();
        }
    }
}
