// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(LeakCheck.class)
class TestDatabasesTest {

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#databases")
    void every_database_answers_under_its_own_name(String name) throws SQLException {
        TestDatabase database = TestDatabases.byName(name);

        assertThat(database.name()).isEqualTo(name);
        assertThat(TestDatabases.byName(name)).isSameAs(database);
        try (Connection connection = database.dataSource().getConnection()) {
            assertThat(connection.getMetaData().getDatabaseProductName()).isEqualToIgnoringCase(name);
        }
    }

    @Test
    void servers_live_in_time_zones_of_their_own() throws SQLException {
        Set<Long> offsets = new HashSet<>();
        offsets.add((long) ZoneId.systemDefault()
                        .getRules()
                        .getOffset(Instant.now())
                        .getTotalSeconds()
                / 60);
        for (String name : TestDatabases.selected()) {
            String now = Sql.one(
                    TestDatabases.byName(name),
                    switch (name) {
                        // The driver gives its sessions the JVM's zone; the server's own is left in its log.
                        case "postgresql" ->
                            "SELECT CAST(date_trunc('second', now() AT TIME ZONE current_setting('log_timezone')) AS varchar)";
                        case "h2" -> "SELECT CAST(LOCALTIMESTAMP(0) AS varchar)";
                        default -> "SELECT CAST(now() AS char)";
                    });
            LocalDateTime local = LocalDateTime.parse(now.replace(' ', 'T'));
            Duration ahead = Duration.between(LocalDateTime.now(ZoneOffset.UTC), local);
            offsets.add(Math.round(ahead.toSeconds() / 60.0));
        }

        assertThat(offsets).hasSize(TestDatabases.selected().size() + 1);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void servers_listen_on_the_loopback_address_only(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);

        for (NetworkInterface each :
                NetworkInterface.networkInterfaces().filter(this::isOutward).toList()) {
            for (InetAddress address : each.inetAddresses().toList()) {
                assertThatThrownBy(() -> new Socket(address, database.port()).close())
                        .isInstanceOf(java.io.IOException.class);
            }
        }
        new Socket(database.address(), database.port()).close();
    }

    private boolean isOutward(NetworkInterface network) {
        try {
            return !network.isLoopback();
        } catch (java.net.SocketException e) {
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#databases")
    void killed_sessions_are_gone_and_the_killer_lives(String name) throws SQLException {
        TestDatabase database = TestDatabases.byName(name);
        try (Connection killer = database.dataSource().getConnection();
                Connection victim = database.dataSource().getConnection()) {
            assertThat(Sql.one(victim, "SELECT 1")).isEqualTo("1");

            database.killSessions(killer);

            assertThatThrownBy(() -> Sql.one(victim, "SELECT 1")).isInstanceOf(SQLException.class);
            assertThat(Sql.one(killer, "SELECT 1")).isEqualTo("1");
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#databasesAndServers")
    void restarted_database_keeps_its_data_and_loses_its_connections(String name) throws SQLException {
        TestDatabase database = TestDatabases.byName(name);
        Sql.freshTable(database, "survivors", "id int PRIMARY KEY");
        database.execute("INSERT INTO survivors VALUES (42)");
        try (Connection old = database.dataSource().getConnection()) {
            long begin = System.nanoTime();
            database.restart();
            Progress.say(database.name() + " restarted in " + Progress.since(begin));

            assertThatThrownBy(() -> Sql.one(old, "SELECT 1")).isInstanceOf(SQLException.class);
        }
        assertThat(Sql.one(database, "SELECT id FROM survivors")).isEqualTo("42");
        database.execute("DROP TABLE survivors");
    }

    @Test
    void exhausted_pool_gives_up_after_five_seconds() throws SQLException {
        try (HikariDataSource pool = TestDatabases.byName("h2").pool(1);
                Connection only = pool.getConnection()) {
            assertThat(only.isValid(1)).isTrue();
            assertThat(pool.getConnectionTimeout()).isEqualTo(5000);
            pool.setConnectionTimeout(250);

            assertThatThrownBy(pool::getConnection).isInstanceOf(SQLTransientConnectionException.class);
        }
    }

    @Test
    void unknown_database_is_named_in_the_message() {
        assertThatThrownBy(() -> TestDatabases.byName("oracle"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'oracle'")
                .hasMessageContaining("postgresql");
    }

    @Test
    void failing_statement_is_named_in_the_message() {
        assertThatThrownBy(() -> TestDatabases.h2().execute("SELECT nothing_like_it"))
                .isInstanceOf(TestDatabaseException.class)
                .hasMessageContaining("SELECT nothing_like_it")
                .hasMessageNotContaining("password");
    }

    @Test
    void h2_in_memory_has_no_port() {
        assertThatThrownBy(() -> TestDatabases.h2().port())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("h2Server()");
    }
}
