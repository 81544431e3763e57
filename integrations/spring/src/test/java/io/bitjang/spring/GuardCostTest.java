// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Wait;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSource;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** How many statements the locks send on the connection of a transaction. */
class GuardCostTest extends OnSpring {

    private final AtomicInteger statements = new AtomicInteger();

    @Configuration
    @EnableLocking
    static class Application {
        @Bean
        PlatformTransactionManager transactions(Counted counted) {
            return new JdbcTransactionManager(counted.source());
        }

        @Bean
        static LockingSettings settings() {
            return LockingSettings.defaults();
        }
    }

    /** No bean of the type data source, so that the locks follow the pool inside. */
    record Counted(DataSource source) {}

    private LockTemplate template;
    private LockManager manager;
    private TransactionTemplate tx;

    @BeforeEach
    void start() {
        ProxyDataSource counted = ProxyDataSourceBuilder.create(pool)
                .afterQuery((execution, queries) -> queries.stream()
                        .filter(query ->
                                query.getQuery().toLowerCase(Locale.ROOT).contains("bitjang_locks"))
                        .forEach(query -> statements.incrementAndGet()))
                .build();
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getBeanFactory().registerSingleton("dataSource", pool);
        context.getBeanFactory().registerSingleton("locks", locks);
        context.getBeanFactory().registerSingleton("counted", new Counted(counted));
        context.register(Application.class);
        closing(context).refresh();
        template = context.getBean(LockTemplate.class);
        manager = context.getBean(LockManager.class);
        tx = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
    }

    @Test
    void transaction_that_begins_under_a_lock_costs_one() {
        template.run(lock, Wait.none(), () -> tx.executeWithoutResult(status -> {}));

        assertThat(statements).hasValue(1);
    }

    /** One when it is taken, and one before the commit, because a savepoint or an implicit commit may have ended the first. */
    @Test
    void lock_inside_of_a_transaction_costs_two() {
        tx.executeWithoutResult(status -> template.run(lock, Wait.none(), () -> {}));

        assertThat(statements).hasValue(2);
    }

    @Test
    void check_costs_one_and_one_more_before_the_commit() {
        LockId id = manager.tryLock(lock.type(), lock.id(), "kim");

        tx.executeWithoutResult(status -> manager.checkLock(id));

        assertThat(statements).hasValue(2);
    }

    /** A release guards by itself: with the check that comes before it there is nothing to repeat. */
    @Test
    void check_and_release_cost_three() {
        LockId id = manager.tryLock(lock.type(), lock.id(), "kim");

        tx.executeWithoutResult(status -> {
            manager.checkLock(id);
            manager.releaseLock(id);
        });

        assertThat(statements).hasValue(3);
    }

    @Test
    void transaction_without_locks_costs_none() {
        tx.executeWithoutResult(status -> {});

        assertThat(statements).hasValue(0);
    }
}
