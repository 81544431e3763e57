// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Order;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How long one waits for an aggregate, whatever the server or the session have as their limits. */
class AggregateWaitTest extends OnJpa {

    @Test
    void a_wait_is_kept_to_the_millisecond() throws Exception {
        long number = newOrder();
        try (AutoCloseable held = holding(number)) {
            refused(number, Wait.upTo(Duration.ofMillis(1)));
            for (long millis : new long[] {0, 300, 2000}) {
                long most = millis + Math.max(50, millis / 5);
                long took = shortest(most, () -> {
                    long before = System.nanoTime();
                    Throwable failure = refused(number, Wait.upTo(Duration.ofMillis(millis)));
                    long waited = millisSince(before);
                    assertThat(waited).isGreaterThanOrEqualTo(millis - 5);
                    assertThat(failure)
                            .isInstanceOf(millis == 0 ? AggregateBusyException.class : AggregateTimeoutException.class);
                    return waited;
                });
                System.out.printf("%s: a wait of %d ms took %d ms%n", name, millis, took);
                assertThat(took).isLessThanOrEqualTo(most);
            }
        }
    }

    /** A second each; on MySQL a statement that was ended so is sent again for the rest of the wait. */
    @Test
    void the_limits_of_the_server_and_the_session_are_not_those_of_the_wait() throws Exception {
        long number = newOrder();
        String second = switch (name) {
            case "postgresql" -> "SET lock_timeout = '1s'; SET statement_timeout = '1s'";
            case "h2" -> "SET LOCK_TIMEOUT 1000";
            default -> "SET SESSION innodb_lock_wait_timeout = 1";
        };
        try (var limited = database.pool(1)) {
            try (Connection connection = limited.getConnection();
                    var statement = connection.createStatement()) {
                statement.execute(second);
            }
            try (var few = factory(limited, java.util.Map.of("hibernate.hbm2ddl.auto", "none"))) {
                AutoCloseable held = holding(number);
                long took = shortest(5_000, () -> {
                    long before = System.nanoTime();
                    Throwable failure = catchThrowable(() -> tx(
                            few,
                            em -> AggregateLocks.of(em).lock(Order.class, number, Wait.upTo(Duration.ofMillis(2500)))));
                    assertThat(failure).isInstanceOf(AggregateTimeoutException.class);
                    return millisSince(before);
                });
                assertThat(took).isBetween(2495L, 5000L);

                Future<Long> forever = threads.submit(() -> tx(
                        few,
                        em -> AggregateLocks.of(em)
                                .lock(Order.class, number, Wait.forever())
                                .number()));
                assertThatThrownBy(() -> forever.get(1500, TimeUnit.MILLISECONDS))
                        .isInstanceOf(java.util.concurrent.TimeoutException.class);
                held.close();
                assertThat(forever.get(30, TimeUnit.SECONDS)).isEqualTo(number);
            }
        }
    }

    @Test
    void the_wait_for_several_is_a_wait_for_all_of_them() throws Exception {
        long one = newOrder();
        long two = newOrder();
        long most = name.equals("h2") ? 2500 : 1600;
        long took = shortest(most, () -> waitedForBoth(one, two));
        System.out.printf("%s: a wait of 1000 ms for two took %d ms%n", name, took);
        assertThat(took).isBetween(995L, most);
    }

    /** How long a wait of a second takes if the first of them is given free in its midst; without end if that came too late. */
    private long waitedForBoth(long one, long two) throws Exception {
        AutoCloseable first = holding(one);
        try (AutoCloseable second = holding(two)) {
            Future<Long> waiting = threads.submit(() -> {
                long before = System.nanoTime();
                assertThat(catchThrowable(() -> inTx(em -> AggregateLocks.of(em)
                                .lockAll(Order.class, List.of(one, two), Wait.upTo(Duration.ofMillis(1000))))))
                        .isInstanceOf(AggregateTimeoutException.class);
                return millisSince(before);
            });
            TimeUnit.MILLISECONDS.sleep(700);
            first.close();
            boolean inTime = !waiting.isDone();
            long took = waiting.get(30, TimeUnit.SECONDS);
            return inTime ? took : Long.MAX_VALUE;
        }
    }

    @Test
    void who_waits_gets_it_when_it_is_free() throws Exception {
        long number = newOrder();
        for (Wait wait : List.of(Wait.upTo(Duration.ofSeconds(30)), Wait.forever(), Wait.upTo(Duration.ofDays(4000)))) {
            AutoCloseable held = holding(number);
            CountDownLatch begun = new CountDownLatch(1);
            Future<Long> waiting = threads.submit(() -> tx(em -> {
                begun.countDown();
                return AggregateLocks.of(em).lock(Order.class, number, wait).number();
            }));
            begun.await();
            assertThatThrownBy(() -> waiting.get(200, TimeUnit.MILLISECONDS))
                    .isInstanceOf(java.util.concurrent.TimeoutException.class);

            held.close();

            assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(number);
        }
    }

    @Test
    void the_connections_of_the_pool_keep_their_settings() throws Exception {
        long free = newOrder();
        long taken = newOrder();
        String settings = switch (name) {
            case "postgresql" ->
                "SELECT string_agg(name || '=' || setting, ',' ORDER BY name) FROM pg_settings"
                        + " WHERE context = 'user'";
            case "h2" ->
                "SELECT LISTAGG(SETTING_NAME || '=' || SETTING_VALUE, ',') WITHIN GROUP (ORDER BY"
                        + " SETTING_NAME) FROM INFORMATION_SCHEMA.SETTINGS";
            default ->
                "SELECT CONCAT_WS(',', @@innodb_lock_wait_timeout, @@transaction_isolation, @@autocommit,"
                        + " @@sql_mode, " + (name.equals("mysql") ? "@@max_execution_time" : "@@max_statement_time")
                        + ")";
        };
        try (var small = database.pool(2);
                var few = factory(small, java.util.Map.of());
                AutoCloseable held = holding(taken)) {
            List<String> before = settingsOfAll(small, settings);
            for (int i = 0; i < (Boolean.getBoolean("bitjang.soak") ? 1000 : 200); i++) {
                boolean fails = i % 10 == 0;
                Wait wait = i % 3 == 0 ? Wait.none() : Wait.upTo(Duration.ofMillis(fails ? 1 : 10_000));
                Throwable failure = catchThrowable(() ->
                        tx(few, em -> AggregateLocks.of(em).lock(Order.class, fails ? taken : free, wait)));
                assertThat(failure != null).isEqualTo(fails);
            }
            assertThat(settingsOfAll(small, settings)).isEqualTo(before);
        }
    }

    private static List<String> settingsOfAll(javax.sql.DataSource pool, String query) throws Exception {
        try (Connection one = pool.getConnection();
                Connection two = pool.getConnection()) {
            return List.of(setting(one, query), setting(two, query));
        }
    }

    private static String setting(Connection connection, String query) throws Exception {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1) + ", isolation " + connection.getTransactionIsolation();
        }
    }
}
