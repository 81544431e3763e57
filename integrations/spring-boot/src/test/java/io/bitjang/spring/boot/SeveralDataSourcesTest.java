// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

class SeveralDataSourcesTest {

    private static final ThreadLocal<String> KEY = new ThreadLocal<>();

    @Test
    void two_without_a_choice_are_refused_by_name() {
        with(Two.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LocksStartException.class)
                        .hasMessageContaining("orders, reports"));
    }

    @Test
    void the_primary_one_is_taken() {
        with(TwoOnePrimary.class)
                .run(context -> assertThat(tables(context.getBean("orders", DataSource.class)))
                        .isTrue());
    }

    @Test
    void one_is_chosen_by_name() {
        with(TwoOnePrimary.class)
                .withPropertyValues("bitjang.data-source=reports")
                .run(context -> {
                    assertThat(tables(context.getBean("reports", DataSource.class)))
                            .isTrue();
                    assertThat(tables(context.getBean("orders", DataSource.class)))
                            .isFalse();
                    assertJoins(context.getBean(LockManager.class), context.getBean("reports", DataSource.class));
                });
    }

    @Test
    void a_name_that_is_no_bean_is_refused_with_those_that_are() {
        with(Two.class)
                .withPropertyValues("bitjang.data-source=report")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("'report'")
                        .satisfies(failure ->
                                assertThat(LocksFailure.of(failure).action()).contains("orders, reports")));
    }

    @Test
    void one_is_chosen_by_a_mark() {
        with(TwoOneMarked.class).run(context -> {
            assertThat(tables(context.getBean("reports", DataSource.class))).isTrue();
            assertThat(tables(context.getBean("orders", DataSource.class))).isFalse();
            assertJoins(context.getBean(LockManager.class), context.getBean("reports", DataSource.class));
        });
    }

    @Test
    void a_mark_on_a_second_way_to_the_same_database_only_gives_connections() {
        with(TwoWays.class).run(context -> {
            assertThat(context.getBean(LockConnections.class).own())
                    .isSameAs(context.getBean("forLocks", DataSource.class));
            assertJoins(context.getBean(LockManager.class), context.getBean("orders", DataSource.class));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_locks_of_a_routing_data_source_are_in_its_default_database(boolean ownPool) {
        with(Routing.class)
                .withPropertyValues("bitjang.pool.dedicated=" + ownPool)
                .run(context -> {
                    Routing app = context.getBean(Routing.class);
                    KEY.set("second");
                    try {
                        LockId mine = context.getBean(Locks.class).manager().tryLock("order", "42");
                        assertThat(mine).isNotNull();
                    } finally {
                        KEY.remove();
                    }
                    assertThat(tables(app.first)).isTrue();
                    assertThat(tables(app.second)).isFalse();
                    assertJoins(context.getBean(LockManager.class), context.getBean(DataSource.class));
                });
    }

    @Test
    void a_guard_in_a_transaction_that_was_routed_elsewhere_is_refused() {
        with(Routing.class).run(context -> {
            LockManager manager = context.getBean(LockManager.class);
            LockId mine = manager.tryLock("order", "42");
            refusedInTheSecond(context.getBean(DataSource.class), manager, mine, LockingFailException.class);
            // also if that database has tables of locks, too
            Locks.create(context.getBean(Routing.class).second).close();
            refusedInTheSecond(context.getBean(DataSource.class), manager, mine, NoLockException.class);
            assertThat(manager.checkLock(mine).held()).isTrue();
        });
    }

    @Test
    void a_routing_data_source_without_a_default_is_refused() {
        with(RoutingNowhere.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("has no default target"));
    }

    @Test
    void a_marked_routing_data_source_gives_the_connections_of_its_default_target() {
        with(RoutingMarked.class)
                .withPropertyValues("bitjang.data-source=orders")
                .run(context -> {
                    assertThat(context.getBean(LockConnections.class).own())
                            .isSameAs(context.getBean(RoutingMarked.class).forLocks);
                    KEY.set("second");
                    try {
                        assertJoins(context.getBean(LockManager.class), context.getBean("orders", DataSource.class));
                    } finally {
                        KEY.remove();
                    }
                });
    }

    @Test
    void locks_of_the_applications_own_over_a_routing_data_source_are_refused() {
        with(RoutingByHand.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("one Locks for each target (tenant)"));
    }

    private static void refusedInTheSecond(
            DataSource source, LockManager manager, LockId mine, Class<? extends LockException> why) {
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(source));
        KEY.set("second");
        try {
            assertThatThrownBy(() -> transaction.executeWithoutResult(status -> manager.checkLock(mine)))
                    .isInstanceOf(why);
            // a caller who goes on all the same does not get to commit
            assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                        try {
                            manager.checkLock(mine);
                        } catch (LockException e) {
                            assertThat(e).isInstanceOf(why);
                        }
                    }))
                    .isInstanceOfAny(UnexpectedRollbackException.class, why);
        } finally {
            KEY.remove();
        }
    }

    /** A release in a transaction that rolls back releases nothing. */
    private static void assertJoins(LockManager manager, DataSource source) {
        LockId mine = manager.tryLock("joins", "it");
        new TransactionTemplate(new JdbcTransactionManager(source)).executeWithoutResult(status -> {
            manager.releaseLock(mine);
            status.setRollbackOnly();
        });
        assertThat(manager.checkLock(mine).held()).isTrue();
        manager.releaseLock(mine);
    }

    private static boolean tables(DataSource source) {
        return new JdbcTemplate(source)
                        .queryForObject(
                                "SELECT count(*) FROM information_schema.tables WHERE upper(table_name) = 'BITJANG_LOCKS'",
                                Integer.class)
                == 1;
    }

    private static ApplicationContextRunner with(Class<?> configuration) {
        return Apps.plain().withUserConfiguration(configuration);
    }

    private static HikariDataSource h2() {
        return DataSourceBuilder.create()
                .type(HikariDataSource.class)
                .url(Apps.h2())
                .build();
    }

    @Configuration(proxyBeanMethods = false)
    static class Two {

        @Bean
        DataSource orders() {
            return h2();
        }

        @Bean
        DataSource reports() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoOnePrimary {

        @Bean
        @Primary
        DataSource orders() {
            return h2();
        }

        @Bean
        DataSource reports() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoOneMarked {

        @Bean
        DataSource orders() {
            return h2();
        }

        @Bean
        @BitjangDataSource
        DataSource reports() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoWays {

        private final String url = Apps.h2();

        @Bean
        DataSource orders() {
            return DataSourceBuilder.create().url(url).build();
        }

        @Bean(defaultCandidate = false)
        @BitjangDataSource
        DataSource forLocks() {
            return DataSourceBuilder.create().url(url).build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Routing {

        final HikariDataSource first = h2();
        final HikariDataSource second = h2();

        @Bean
        DataSource dataSource() {
            return routing(Map.of("second", second), first);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RoutingMarked {

        private final String url = Apps.h2();
        final DataSource forLocks = DataSourceBuilder.create().url(url).build();

        @Bean
        DataSource orders() {
            return DataSourceBuilder.create().url(url).build();
        }

        @Bean
        @BitjangDataSource
        DataSource tenants() {
            return routing(Map.of("second", h2()), forLocks);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RoutingByHand {

        @Bean
        DataSource dataSource() {
            return routing(Map.of("second", h2()), h2());
        }

        @Bean
        Locks locks(DataSource dataSource) {
            return Locks.create(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RoutingNowhere {

        @Bean
        DataSource dataSource() {
            return routing(Map.of("second", h2()), null);
        }
    }

    private static DataSource routing(Map<Object, Object> targets, DataSource otherwise) {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return KEY.get();
            }
        };
        routing.setTargetDataSources(targets);
        if (otherwise != null) {
            routing.setDefaultTargetDataSource(otherwise);
        }
        return routing;
    }
}
