// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Calls at moments when a transaction is nearly over, suspended, or promised not to write. */
class LateCallsTest extends OnSpring {

    private TransactionalLockManager manager;

    @BeforeEach
    void follow() {
        manager = new TransactionalLockManager(locks.manager(), pool);
    }

    private LockId taken() {
        return manager.tryLock(lock.type(), lock.id(), "kim");
    }

    private void takeAway(LockId id) {
        assertThat(other.admin().forceRelease(lock, id.fence(), "admin", "test"))
                .isTrue();
    }

    /** As a listener of an event does that is called before the commit. */
    @Test
    void failed_guard_that_is_caught_just_before_the_commit_leaves_nothing_to_commit() {
        LockId id = taken();
        takeAway(id);

        assertThat(catchThrowable(() -> transaction().executeWithoutResult(status -> {
                    add(1);
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            assertThatThrownBy(() -> manager.checkLock(id)).isInstanceOf(NoLockException.class);
                            add(10);
                        }
                    });
                })))
                .isInstanceOfAny(UnexpectedRollbackException.class, LockException.class);

        assertThat(balance()).isZero();
    }

    /** H2 lets a read-only transaction write, so there the check is a guard like any other. */
    @Test
    void what_a_transaction_that_is_said_to_be_read_only_writes_is_never_written_under_a_lock_that_was_lost() {
        LockId id = taken();
        TransactionTemplate readOnly = transaction();
        readOnly.setReadOnly(true);

        catchThrowable(() -> readOnly.executeWithoutResult(status -> {
            LockData held = manager.checkLock(id);
            assertThat(held.owner()).isEqualTo("kim");
            catchThrowable(() -> takeAway(id));
            add(1);
        }));

        assertThat(isHeld(lock) || balance() == 0)
                .as("taken away, and written all the same")
                .isTrue();
    }

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {
        @Bean
        PlatformTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    @Test
    void lock_that_a_suspended_transaction_keeps_is_joined_and_not_waited_for() {
        var context = context(Application.class);
        LockTemplate template = context.getBean(LockTemplate.class);
        PlatformTransactionManager transactions = context.getBean(PlatformTransactionManager.class);
        TransactionTemplate outer = new TransactionTemplate(transactions);
        TransactionTemplate inner = new TransactionTemplate(transactions);
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        TransactionTemplate without = new TransactionTemplate(transactions);
        without.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
        Wait wait = Wait.upTo(Duration.ofSeconds(10));

        outer.executeWithoutResult(status -> {
            template.run(lock, wait, () -> trace.add("outer"));
            inner.executeWithoutResult(nested -> template.run(lock, wait, () -> trace.add("inner")));
            without.executeWithoutResult(none -> template.run(lock, wait, () -> trace.add("without")));
            assertThat(isHeld(lock)).isTrue();
        });

        assertThat(trace).containsExactly("lock", "outer", "inner", "without", "unlock");
        assertThat(isHeld(lock)).isFalse();
    }
}
