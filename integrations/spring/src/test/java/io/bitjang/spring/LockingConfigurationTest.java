// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.StaleSnapshotException;
import io.bitjang.testkit.TestDatabases;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.annotation.PersistenceExceptionTranslationPostProcessor;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** What {@code @EnableLocking} puts into a context. The database does not matter. */
class LockingConfigurationTest {

    /** Comes after all that are ordered, and notes what it got to see. */
    static class Seen implements BeanPostProcessor {
        private final Set<String> names = ConcurrentHashMap.newKeySet();

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            names.add(beanName);
            return bean;
        }
    }

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {

        @Bean
        static Seen seen() {
            return new Seen();
        }

        @Bean
        static PersistenceExceptionTranslationPostProcessor translation() {
            return new PersistenceExceptionTranslationPostProcessor();
        }

        @Bean
        HikariDataSource dataSource() {
            return TestDatabases.h2().pool(3);
        }

        @Bean
        Locks locks(DataSource dataSource) {
            return Locks.create(dataSource);
        }

        @Bean
        JdbcTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        LockingSettings settings() {
            return LockingSettings.defaults();
        }

        @Bean
        Orders orders(LockManager manager) {
            return new Orders(manager);
        }
    }

    @Repository
    static class Orders {
        private final LockManager manager;

        Orders(LockManager manager) {
            this.manager = manager;
        }

        @Locked("orders")
        @Transactional
        public String ship() {
            return "shipped";
        }

        public void edit(String id) {
            manager.tryLock("order", id);
            manager.tryLock("order", id);
        }
    }

    @Test
    void nothing_of_the_application_is_created_before_its_time() {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            assertThat(context.getBean(Orders.class).ship()).isEqualTo("shipped");
            assertThat(context.getBean(Seen.class).names)
                    .contains("dataSource", "locks", "transactions", "settings", "orders")
                    .contains("lockingConfigurationTest.Application");
        }
    }

    @Test
    void every_transaction_manager_is_listened_to_once() {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            assertThat(context.getBean(JdbcTransactionManager.class).getTransactionExecutionListeners())
                    .hasSize(1);
        }
    }

    @Test
    void repository_throws_spring_s_exceptions() {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            assertThatThrownBy(() -> context.getBean(Orders.class).edit("a" + System.nanoTime()))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .hasCauseInstanceOf(AlreadyLockedException.class);
        }
    }

    @Test
    void application_gets_what_it_needs() {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            assertThat(context.getBean(LockManager.class)).isInstanceOf(TransactionalLockManager.class);
            assertThat(context.getBean(LockTemplate.class)).isNotNull();
            assertThat(context.getBean(LockExceptionTranslator.class)).isNotNull();
        }
    }

    @Configuration
    @EnableLocking
    static class WithoutLocks {}

    @Test
    void missing_locks_are_told_at_start() {
        assertThatThrownBy(() -> new AnnotationConfigApplicationContext(WithoutLocks.class))
                .hasMessageContaining(Locks.class.getName());
    }

    @Configuration
    @EnableLocking
    @Order(1)
    static class EarlyBird {
        @Bean
        Locks locks() {
            return Locks.create(TestDatabases.h2().dataSource());
        }

        @Bean
        static Needed needed() {
            return new Needed();
        }

        // a post-processor that needs a bean makes it before there are proxies
        @Bean
        static Needing needing(Needed needed) {
            return new Needing();
        }
    }

    static class Needing implements BeanPostProcessor, org.springframework.core.PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    static class Needed {
        @Locked("x")
        public void work() {}
    }

    @Test
    void bean_that_was_created_before_there_were_proxies_is_told_at_start() {
        assertThatThrownBy(() -> new AnnotationConfigApplicationContext(EarlyBird.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Needed.work")
                .hasMessageContaining("has no effect");
    }

    @Test
    void exceptions_are_translated_with_their_cause() {
        LockName name = LockName.of("x");
        assertTranslated(new AlreadyLockedException(name, null, ""), CannotAcquireLockException.class, true);
        assertTranslated(
                new LockDeadlockException(List.of(name), "circle", null), CannotAcquireLockException.class, true);
        assertTranslated(new NoLockException(name, "gone", null), PessimisticLockingFailureException.class, true);
        assertTranslated(new StaleSnapshotException(name), PessimisticLockingFailureException.class, true);
        assertTranslated(new LockingFailException(name, "down", null), DataAccessResourceFailureException.class, false);
        assertTranslated(
                new LockException(name, "interrupted", null), NonTransientDataAccessResourceException.class, false);
        assertThat(new LockExceptionTranslator().translateExceptionIfPossible(new IllegalStateException()))
                .isNull();
    }

    private static void assertTranslated(
            LockException e, Class<? extends DataAccessException> expected, boolean retry) {
        assertThat(new LockExceptionTranslator().translateExceptionIfPossible(e))
                .isExactlyInstanceOf(expected)
                .hasCause(e)
                .matches(translated -> translated instanceof ConcurrencyFailureException == retry);
    }
}
