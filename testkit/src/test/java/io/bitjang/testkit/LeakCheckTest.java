// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

class LeakCheckTest {

    private static final List<AutoCloseable> LEFT_BEHIND = new ArrayList<>();
    private static String current = "h2";

    @AfterEach
    void clean_up() throws Exception {
        for (AutoCloseable leak : LEFT_BEHIND) {
            leak.close();
        }
        LEFT_BEHIND.clear();
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void leaked_connection_fails_the_test(String name) {
        assertThat(failureOf(LeaksConnection.class, name)).contains("1 open connection(s) to " + product(name));
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#databases")
    void leaked_connection_fails_the_test_on_h2_in_memory_too(String name) {
        assertThat(failureOf(LeaksConnection.class, name)).contains("1 open connection(s) to " + name);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void open_transaction_fails_the_test(String name) {
        TestDatabase database = TestDatabases.byName(name);
        Sql.freshTable(database, "left_open", "id int");
        assertThat(failureOf(LeaksTransaction.class, name)).contains("an open transaction on " + product(name));
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void connection_not_given_back_to_its_pool_fails_the_test(String name) {
        assertThat(failureOf(LeaksPooledConnection.class, name))
                .contains("1 connection(s) not given back to the pool testkit-" + product(name));
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void connections_of_other_processes_do_not_count(String name) {
        assertThat(failureOf(ConnectsFromAnotherJvm.class, name)).isEmpty();
    }

    @Test
    void thread_of_the_library_fails_the_test() {
        assertThat(failureOf(LeaksThread.class, "h2")).contains("thread bitjang-leaked");
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void clean_test_passes(String name) {
        assertThat(failureOf(LeavesNothing.class, name)).isEmpty();
    }

    /** What the test and its class failed with, together; empty when they did not. */
    private static String failureOf(Class<?> test, String database) {
        // what leaks stays so however long one waits; what does not may need a moment
        boolean clean = test == LeavesNothing.class || test == ConnectsFromAnotherJvm.class;
        TestDatabases.byName(database);
        current = database;
        var events = EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(test))
                .configurationParameter("bitjang.leakcheck.patience.millis", clean ? "30000" : "100")
                .execute()
                .testEvents();
        assertThat(events.finished().count()).isEqualTo(1);
        Event finished = events.finished().list().get(0);
        var result = finished.getRequiredPayload(org.junit.platform.engine.TestExecutionResult.class);
        return result.getStatus() == Status.SUCCESSFUL
                ? ""
                : result.getThrowable().map(Throwable::getMessage).orElse("?");
    }

    private static String product(String name) {
        return name.equals("h2-server") ? "h2" : name;
    }

    private static <T extends AutoCloseable> T leftBehind(T thing) {
        LEFT_BEHIND.add(thing);
        return thing;
    }

    @ExtendWith(LeakCheck.class)
    static class LeaksConnection {
        @Test
        void leaks() throws SQLException {
            leftBehind(TestDatabases.byName(current).dataSource().getConnection());
        }
    }

    @ExtendWith(LeakCheck.class)
    static class LeaksTransaction {
        @Test
        void leaks() throws SQLException {
            Connection connection =
                    leftBehind(TestDatabases.byName(current).dataSource().getConnection());
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT INTO left_open VALUES (1)");
            }
        }
    }

    @ExtendWith(LeakCheck.class)
    static class LeaksPooledConnection {
        private static HikariDataSource pool;

        @BeforeAll
        static void open() {
            pool = leftBehind(TestDatabases.byName(current).pool(3));
        }

        @AfterAll
        static void close() {
            pool.close();
        }

        @Test
        void leaks() throws SQLException {
            pool.getConnection();
        }
    }

    @ExtendWith(LeakCheck.class)
    static class LeaksThread {
        @Test
        void leaks() {
            CountDownLatch end = new CountDownLatch(1);
            Thread thread = new Thread(
                    () -> {
                        try {
                            end.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    },
                    "bitjang-leaked");
            thread.start();
            leftBehind(() -> {
                end.countDown();
                thread.join();
            });
        }
    }

    @ExtendWith(LeakCheck.class)
    static class ConnectsFromAnotherJvm {
        @Test
        void connects() {
            TestDatabase database = TestDatabases.byName(current);
            ChildJvm child = leftBehind(ChildJvm.of(ChildJvmTest.Connects.class)
                    .args(database.jdbcUrl(), database.user(), database.password())
                    .start());
            assertThat(child.readLine(java.time.Duration.ofSeconds(20))).isEqualTo("connected");
        }
    }

    @ExtendWith(LeakCheck.class)
    static class LeavesNothing {
        private static HikariDataSource pool;

        @BeforeAll
        static void open() {
            pool = TestDatabases.byName(current).pool(3);
        }

        @AfterAll
        static void close() {
            pool.close();
        }

        @Test
        void leaves_nothing() throws SQLException {
            TestDatabase database = TestDatabases.byName(current);
            try (Connection connection = database.dataSource().getConnection();
                    Connection pooled = pool.getConnection()) {
                assertThat(Sql.one(connection, "SELECT 1")).isEqualTo("1");
                database.killSessions(connection);
                assertThat(pooled.isClosed()).isFalse();
            }
        }
    }
}
