// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.spring.HiddenTransactionsTest.Accounts;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** The locks know their data source by a wrapper only, and the transactions are those of what is inside it. */
class WrappedLocksTest extends OnSpring {

    private Accounts accounts;
    private LockManager manager;
    private TransactionTemplate outer;
    private TransactionTemplate nested;

    private void start(DataSource wrapper) {
        PlatformTransactionManager transactions = new JdbcTransactionManager(pool);
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getBeanFactory().registerSingleton("dataSource", wrapper);
        context.getBeanFactory()
                .registerSingleton(
                        "locks", closing(Locks.builder(wrapper).owner("wrapped").build()));
        context.registerBean(PlatformTransactionManager.class, () -> transactions);
        context.register(HiddenTransactionsTest.Application.class);
        closing(context).refresh();
        accounts = context.getBean(Accounts.class);
        manager = context.getBean(LockManager.class);
        outer = new TransactionTemplate(transactions);
        nested = new TransactionTemplate(transactions);
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
    }

    private void takenAway() {
        freed();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
    }

    /** Whoever has it. */
    private void freed() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
    }

    @Test
    void commit_of_a_holder_that_has_lost_its_lock_is_refused_whatever_wraps_the_data_source_of_the_locks() {
        HiddenTransactionsTest.wrappers(pool).forEach(wrapper -> {
            start(wrapper);

            assertThatThrownBy(() -> accounts.inTransaction(account, () -> {
                        add(1);
                        takenAway();
                        return true;
                    }))
                    .as(wrapper.toString())
                    .isInstanceOf(PessimisticLockingFailureException.class)
                    .hasCauseInstanceOf(NoLockException.class);

            assertThat(balance()).as(wrapper.toString()).isZero();
            freed();
        });
    }

    @Test
    void edit_lock_that_was_lost_refuses_the_check_or_the_commit_whatever_wraps_the_data_source_that_it_follows() {
        HiddenTransactionsTest.wrappers(pool).forEach(wrapper -> {
            start(wrapper);
            LockId id = manager.tryLock(lock.type(), lock.id(), "kim");

            Throwable refused = catchThrowable(() -> outer.executeWithoutResult(status -> {
                // ends the guard, if there is one, so that the lock can be lost
                nested.executeWithoutResult(part -> {
                    manager.checkLock(id);
                    part.setRollbackOnly();
                });
                takenAway();
                add(1);
            }));

            assertThat(refused)
                    .as(wrapper.toString())
                    .satisfiesAnyOf(
                            atTheCommit -> assertThat(atTheCommit).isInstanceOf(NoLockException.class),
                            atTheCheck -> assertThat(atTheCheck)
                                    .isInstanceOf(IllegalStateException.class)
                                    .hasMessageContaining("not one of the data source that the locks follow"));
            assertThat(balance()).as(wrapper.toString()).isZero();
            freed();
        });
    }
}
