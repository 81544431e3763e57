// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Wait;
import java.io.IOException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Locks in code. */
class LockTemplateTest extends OnSpring {

    @Configuration
    @EnableLocking
    static class Application {
        @Bean
        TracedTransactions transactions(DataSource dataSource, Trace trace) {
            return new TracedTransactions(dataSource, trace);
        }

        @Bean
        DataSourceTransactionManager elsewhere() {
            return new DataSourceTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:"));
        }
    }

    private LockTemplate template;
    private TransactionTemplate tx;
    private TransactionTemplate elsewhere;

    @BeforeEach
    void start() {
        AnnotationConfigApplicationContext context = context(Application.class);
        template = context.getBean(LockTemplate.class);
        tx = new TransactionTemplate(context.getBean("transactions", PlatformTransactionManager.class));
        elsewhere = new TransactionTemplate(context.getBean("elsewhere", PlatformTransactionManager.class));
    }

    @Test
    void body_runs_under_the_lock() {
        assertThat(template.call(lock, Wait.none(), () -> isHeld(lock))).isTrue();
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void exception_of_the_body_keeps_its_type() {
        assertThatThrownBy(() -> template.run(lock, Wait.none(), () -> {
                    throw new IOException("own");
                }))
                .isInstanceOf(IOException.class);
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void exception_of_a_lock_that_the_body_itself_wanted_stays_as_it_is() {
        LockName second = LockName.of("second " + account);
        Lease taken = other.lease(second).tryAcquire().orElseThrow();

        assertThatThrownBy(() -> template.run(
                        lock, Wait.none(), () -> locks.lease(second).acquire(Wait.none())))
                .isInstanceOf(AlreadyLockedException.class);
        taken.close();
    }

    @Test
    void taken_lock_is_an_exception_or_an_answer() {
        Lease taken = other.lease(lock).tryAcquire().orElseThrow();

        assertThatThrownBy(() -> template.run(lock, Wait.none(), () -> {}))
                .isInstanceOf(CannotAcquireLockException.class)
                .hasCauseInstanceOf(AlreadyLockedException.class);
        assertThat(template.tryRun(lock, Wait.none(), () -> add(1))).isFalse();
        taken.close();

        assertThat(template.tryRun(lock, Wait.none(), () -> add(1))).isTrue();
        assertThat(balance()).isOne();
    }

    @Test
    void commit_under_a_lost_lock_is_refused() {
        assertThatThrownBy(() -> template.run(
                        lock,
                        Wait.none(),
                        () -> tx.executeWithoutResult(s -> {
                            add(1);
                            long fence = other.admin().find(lock).orElseThrow().fence();
                            other.admin().forceRelease(lock, fence, "admin", "test");
                        })))
                .isInstanceOf(PessimisticLockingFailureException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void transaction_that_is_committed_after_its_lock_was_freed_is_refused() {
        assertThatThrownBy(() -> {
                    var status = template.call(
                            lock, Wait.none(), () -> tx.getTransactionManager().getTransaction(tx));
                    add(1);
                    tx.getTransactionManager().commit(status);
                })
                .isInstanceOf(PessimisticLockingFailureException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void commit_elsewhere_is_refused_if_the_loss_of_the_lock_is_known() {
        LockTemplate brief = template.lasting(Duration.ofSeconds(6)).maxHold(Duration.ofSeconds(3));

        assertThatThrownBy(() -> brief.run(lock, Wait.none(), () -> elsewhere.executeWithoutResult(s -> await(lost))))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasMessageContaining("must not be committed");
        template.run(lock, Wait.upTo(PATIENCE), () -> elsewhere.executeWithoutResult(s -> {}));
    }

    @Test
    void session_lock_has_another_name_space_and_no_lease() {
        LockTemplate sessions = template.kind(Locked.Kind.SESSION);

        assertThat(sessions.call(lock, Wait.none(), () -> isHeld(lock))).isFalse();
        assertThat(sessions.call(lock, Wait.none(), () -> other.session(lock).tryAcquire()))
                .isEmpty();
        assertThatThrownBy(() -> sessions.lasting(Duration.ofSeconds(1))).hasMessageContaining("LEASE");
        assertThatThrownBy(() -> template.maxHold(Duration.ofSeconds(1)).kind(Locked.Kind.SESSION))
                .hasMessageContaining("LEASE");
    }

    @Test
    void settings_reach_the_lease() {
        LockTemplate set = template.lasting(Duration.ofMinutes(2))
                .maxHold(Duration.ofMinutes(3))
                .notFreeBefore(Duration.ofMinutes(1));

        assertThat(set.call(lock, Wait.none(), () -> locks.admin().find(lock).orElseThrow())
                        .remaining())
                .isGreaterThan(Duration.ofSeconds(90));

        assertThat(isHeld(lock)).as("not free before a minute has passed").isTrue();
    }

    @Test
    void wrong_name_is_refused_at_once() {
        assertThat(catchThrowable(() -> template.run(" ", Wait.none(), () -> {})))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
