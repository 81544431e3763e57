// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spring.EnableLocking;
import io.bitjang.spring.LockTemplate;
import io.bitjang.spring.Locked;
import io.bitjang.spring.LockingSettings;
import io.bitjang.spring.TransactionalLockManager;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.persistence.autoconfigure.PersistenceExceptionTranslationAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

@ExtendWith(OutputCaptureExtension.class)
class LockedMethodsTest {

    @Test
    void a_locked_method_runs_under_its_lock_and_a_guarded_transaction() {
        Apps.plain().withBean(Jobs.class).run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            assertThat(jobs.write(7)).isEqualTo("held, in a transaction");
            assertThat(state(context.getBean(Locks.class))).isEqualTo("free");
        });
    }

    @Test
    void the_template_is_there() {
        Apps.plain()
                .run(context -> context.getBean(LockTemplate.class)
                        .run(
                                "job:7",
                                Wait.none(),
                                () -> assertThat(state(context.getBean(Locks.class)))
                                        .isEqualTo("held")));
    }

    @Test
    void a_lock_that_is_taken_throws_springs_exception() {
        Apps.plain().withBean(Jobs.class).run(context -> {
            try (var lease =
                    context.getBean(Locks.class).lease("job:7").tryAcquire().orElseThrow()) {
                assertThatThrownBy(() -> context.getBean(Jobs.class).write(7))
                        .isInstanceOf(CannotAcquireLockException.class);
            }
        });
    }

    @Test
    void repositories_throw_springs_exceptions_too() {
        Apps.plain()
                .withConfiguration(AutoConfigurations.of(PersistenceExceptionTranslationAutoConfiguration.class))
                .withBean(Orders.class)
                .run(context -> {
                    context.getBean(Orders.class).edit();
                    assertThatThrownBy(() -> context.getBean(Orders.class).edit())
                            .isInstanceOf(CannotAcquireLockException.class)
                            .hasCauseInstanceOf(AlreadyLockedException.class);
                });
    }

    @Test
    void who_enables_locking_by_hand_has_the_same_beans() {
        Apps.plain().withUserConfiguration(ByHand.class).withBean(Jobs.class).run(context -> {
            assertThat(context.getBean(LockManager.class)).isSameAs(context.getBean(TransactionalLockManager.class));
            assertThat(context.getBean(Jobs.class).write(7)).isEqualTo("held, in a transaction");
        });
    }

    @Test
    void the_guard_follows_the_data_source_that_was_chosen() {
        Apps.plain()
                .withUserConfiguration(TwoWays.class)
                .run(context -> assertThat(
                                context.getBean(LockingSettings.class).dataSource())
                        .isEqualTo("orders"));
        Apps.plain()
                .withUserConfiguration(TwoWays.class)
                .withPropertyValues("bitjang.data-source=forLocks")
                .run(context -> assertThat(
                                context.getBean(LockingSettings.class).dataSource())
                        .isEqualTo("forLocks"));
    }

    @Test
    void an_object_that_calls_its_own_locked_method_is_found_at_start_up(CapturedOutput output) {
        Apps.plain()
                .withBean(Selfish.class)
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("goes past the proxy"));
        Apps.plain()
                .withBean(Selfish.class)
                .withPropertyValues("bitjang.locked.self-invocation=warn")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output.getOut()).contains("goes past the proxy");
    }

    @Test
    void it_can_be_switched_off() {
        Apps.plain()
                .withPropertyValues("bitjang.locked.enabled=false")
                .run(context -> assertThat(context).hasSingleBean(Locks.class).doesNotHaveBean(LockTemplate.class));
    }

    private static String state(Locks locks) {
        return locks.admin().find(LockName.of("job:7")).orElseThrow().held() ? "held" : "free";
    }

    static class Jobs {

        private final Locks locks;

        Jobs(Locks locks) {
            this.locks = locks;
        }

        @Locked("job:#{#number}")
        @Transactional
        public String write(int number) {
            return state(locks)
                    + (TransactionSynchronizationManager.isActualTransactionActive() ? ", in a transaction" : "");
        }
    }

    @Repository
    static class Orders {

        private final LockManager manager;

        Orders(LockManager manager) {
            this.manager = manager;
        }

        public void edit() {
            manager.tryLock("order", "42");
        }
    }

    static class Selfish {

        @Locked("mine")
        public void inner() {}

        public void outer() {
            inner();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocking
    static class ByHand {}

    @Configuration(proxyBeanMethods = false)
    static class TwoWays {

        private final String url = Apps.h2();

        @Bean
        DataSource orders() {
            return DataSourceBuilder.create()
                    .type(HikariDataSource.class)
                    .url(url)
                    .build();
        }

        @Bean(defaultCandidate = false)
        @BitjangDataSource
        DataSource forLocks() {
            return DataSourceBuilder.create()
                    .type(HikariDataSource.class)
                    .url(url)
                    .build();
        }
    }
}
