// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(LeakCheck.class)
@Timeout(180)
class TcpProxyTest {

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void reply_to_a_committed_insert_is_lost(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        Sql.freshTable(database, "proxied", "id varchar(40)");
        try (TcpProxy proxy = TcpProxy.to(database);
                Connection connection =
                        database.through(proxy.port()).dataSource().getConnection()) {
            insert(connection, "first");
            CompletableFuture<Void> cut = proxy.cutAfterRequest("second");

            assertThatThrownBy(() -> insert(connection, "second")).isInstanceOf(SQLException.class);

            cut.get(30, TimeUnit.SECONDS);
            assertThat(Sql.one(database, "SELECT count(*) FROM proxied WHERE id = 'second'"))
                    .isEqualTo("1");
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void cut_is_for_one_request_only(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        Sql.freshTable(database, "proxied", "id varchar(40)");
        try (TcpProxy proxy = TcpProxy.to(database)) {
            TestDatabase proxied = database.through(proxy.port());
            proxy.cutAfterRequest("second");
            try (Connection connection = proxied.dataSource().getConnection()) {
                assertThatThrownBy(() -> insert(connection, "second")).isInstanceOf(SQLException.class);
            }
            try (Connection connection = proxied.dataSource().getConnection()) {
                insert(connection, "second");
            }
            assertThat(Sql.one(database, "SELECT count(*) FROM proxied")).isEqualTo("2");
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void replies_are_dropped_until_the_connection_is_closed(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        Sql.freshTable(database, "proxied", "id varchar(40)");
        try (TcpProxy proxy = TcpProxy.to(database);
                Connection connection =
                        database.through(proxy.port()).dataSource().getConnection()) {
            // Prepared ahead, for a driver that would wait for the answer to that.
            PreparedStatement insert = connection.prepareStatement("INSERT INTO proxied VALUES ('only')");
            proxy.cutReplies();
            CompletableFuture<Integer> inserted = CompletableFuture.supplyAsync(() -> executeUnchecked(insert));
            boolean arrived = Eventually.holds(
                    Duration.ofSeconds(30),
                    () -> Sql.one(database, "SELECT count(*) FROM proxied").equals("1"));
            boolean answered = inserted.isDone();

            proxy.disconnect();

            assertThat(arrived).isTrue();
            assertThat(answered).isFalse();
            assertThatThrownBy(() -> inserted.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void stalled_request_arrives_when_the_proxy_resumes(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        Sql.freshTable(database, "proxied", "id varchar(40)");
        try (TcpProxy proxy = TcpProxy.to(database);
                Connection connection =
                        database.through(proxy.port()).dataSource().getConnection()) {
            proxy.stall();
            CompletableFuture<Void> insert = CompletableFuture.runAsync(() -> insertUnchecked(connection, "first"));
            assertThatThrownBy(() -> insert.get(100, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            String rows = Sql.one(database, "SELECT count(*) FROM proxied");

            proxy.resume();

            assertThat(rows).isEqualTo("0");

            insert.get(30, TimeUnit.SECONDS);
            assertThat(Sql.one(database, "SELECT count(*) FROM proxied")).isEqualTo("1");
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void refusing_proxy_is_like_a_server_that_is_down(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        try (TcpProxy proxy = TcpProxy.to(database)) {
            TestDatabase proxied = database.through(proxy.port());
            try (Connection open = proxied.dataSource().getConnection()) {
                proxy.refuse();
                assertThatThrownBy(() -> proxied.dataSource().getConnection()).isInstanceOf(SQLException.class);
                assertThat(Sql.one(open, "SELECT 1")).isEqualTo("1");
            }
            proxy.resume();
            assertThat(Sql.one(proxied, "SELECT 1")).isEqualTo("1");
        }
    }

    private static void insert(Connection connection, String id) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO proxied VALUES (?)")) {
            insert.setString(1, id);
            insert.executeUpdate();
        }
    }

    private static void insertUnchecked(Connection connection, String id) {
        try {
            insert(connection, id);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int executeUnchecked(PreparedStatement statement) {
        try {
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
