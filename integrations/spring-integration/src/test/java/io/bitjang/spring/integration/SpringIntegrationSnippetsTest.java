// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.jdbc.lock.LockRepository;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The snippets of docs/from-spring-integration.md. */
class SpringIntegrationSnippetsTest extends OnRegistry {

    @BeforeEach
    void oldTable() {
        database.execute(
                "CREATE TABLE IF NOT EXISTS INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,"
                        + " CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP(3) NOT NULL, EXPIRED_AFTER TIMESTAMP(3) NOT NULL,"
                        + " PRIMARY KEY (LOCK_KEY, REGION))");
    }

    private AnnotationConfigApplicationContext context(Class<?>... configuration) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.registerBean(DataSource.class, () -> pool, definition -> definition.setDestroyMethodName(null));
        context.registerBean(JdbcTransactionManager.class, () -> new JdbcTransactionManager(pool));
        context.register(Common.class);
        context.register(configuration);
        return context;
    }

    @ParameterizedTest
    @ValueSource(classes = {Before.class, Transitional.class, After.class})
    void work_is_done_before_meanwhile_and_afterwards(Class<?> node) throws Exception {
        try (AnnotationConfigApplicationContext context = context(node)) {
            context.refresh();
            LockRegistry<?> nodes = context.getBean(LockRegistry.class);
            assertThat(nodes.<String, RuntimeException>executeLocked(key, () -> "done"))
                    .isEqualTo("done");
        }
    }

    @Test
    void one_leads() throws Exception {
        CountDownLatch granted = new CountDownLatch(1);
        try (AnnotationConfigApplicationContext context = context(Leader.class)) {
            context.addApplicationListener((ApplicationListener<OnGrantedEvent>) event -> granted.countDown());
            context.refresh();
            assertThat(granted.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Configuration
    static class Common {
        @Bean
        Locks locks(DataSource dataSource) {
            return Locks.create(dataSource);
        }
    }

    @Configuration
    static class Before {
        @Bean
        DefaultLockRepository lockRepository(DataSource dataSource) {
            return new DefaultLockRepository(dataSource);
        }

        @Bean
        JdbcLockRegistry lockRegistry(LockRepository lockRepository) {
            return new JdbcLockRegistry(lockRepository);
        }
    }

    @Configuration
    static class Transitional {
        @Bean
        DefaultLockRepository lockRepository(DataSource dataSource) {
            return new DefaultLockRepository(dataSource);
        }

        @Bean
        BitjangLockRegistry lockRegistry(Locks locks, LockRepository lockRepository) {
            JdbcLockRegistry old = new JdbcLockRegistry(lockRepository); // just as it was
            return new BitjangLockRegistry(locks).alongside(old);
        }
    }

    @Configuration
    static class After {
        @Bean
        BitjangLockRegistry lockRegistry(Locks locks) {
            return new BitjangLockRegistry(locks);
        }
    }

    @Configuration
    static class Leader {
        @Bean
        LockRegistryLeaderInitiator leader(Locks locks) {
            BitjangLockRegistry registry = new BitjangLockRegistry(locks, "leader", Duration.ofSeconds(6));
            return new LockRegistryLeaderInitiator(registry, new DefaultCandidate("node-1", "reports"));
        }
    }
}
