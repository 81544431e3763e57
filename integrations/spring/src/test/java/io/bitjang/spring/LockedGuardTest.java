// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockData;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.StaleSnapshotException;
import io.bitjang.spi.LockEvent;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** What a holder that has lost its lock can't commit, and what happens inside a transaction that was there before. */
class LockedGuardTest extends OnSpring {

    private static final int H2_SNAPSHOT = 6;

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {
        @Bean
        TracedTransactions transactions(DataSource dataSource, Trace trace) {
            return new TracedTransactions(dataSource, trace);
        }

        @Bean
        Accounts accounts() {
            return new Accounts();
        }
    }

    static class Accounts {
        @Locked(type = "account", value = "#{#id}")
        @Transactional
        public <T> T inTransaction(long id, Supplier<T> body) {
            return body.get();
        }

        @Locked(type = "account", value = "#{#id}")
        public <T> T locked(long id, Supplier<T> body) {
            return body.get();
        }

        @Locked(type = "account", value = "#{#id}", kind = Locked.Kind.SESSION)
        public <T> T session(long id, Supplier<T> body) {
            return body.get();
        }
    }

    private Accounts accounts;
    private PlatformTransactionManager transactions;

    @BeforeEach
    void start() {
        AnnotationConfigApplicationContext context = context(Application.class);
        accounts = context.getBean(Accounts.class);
        transactions = context.getBean(PlatformTransactionManager.class);
    }

    private TransactionTemplate tx() {
        return new TransactionTemplate(transactions);
    }

    private TransactionTemplate newTx() {
        TransactionTemplate template = tx();
        template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return template;
    }

    /** An operator takes it away, and another node has it now. */
    private boolean takenAway() {
        LockData holder = other.admin().find(lock).orElseThrow();
        assertThat(other.admin().forceRelease(lock, holder.fence(), "admin", "test"))
                .isTrue();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
        return true;
    }

    private boolean added(int amount) {
        add(amount);
        return true;
    }

    @Test
    void commit_of_a_holder_that_has_lost_its_lock_is_refused() {
        assertThatThrownBy(() -> accounts.inTransaction(account, () -> added(1) && takenAway()))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
        assertThat(trace).contains("rollback").doesNotContain("commit");
    }

    @Test
    void commit_of_a_transaction_begun_in_code_is_refused_as_well() {
        assertThatThrownBy(() -> accounts.locked(account, () -> tx().execute(s -> added(1) && takenAway())))
                .isInstanceOf(PessimisticLockingFailureException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void commit_of_a_new_transaction_inside_is_refused_as_well() {
        assertThatThrownBy(() -> accounts.inTransaction(account, () -> newTx().execute(s -> added(1) && takenAway())))
                .isInstanceOf(PessimisticLockingFailureException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void read_only_transaction_of_a_holder_that_has_lost_its_lock_ends_in_peace_if_it_can_not_write() {
        TransactionTemplate reading = tx();
        reading.setReadOnly(true);

        assertThatThrownBy(() -> accounts.locked(account, () -> reading.execute(s -> balance() == 0 && takenAway())))
                .isInstanceOf(PessimisticLockingFailureException.class);

        // H2 lets a read-only transaction write, so there it is guarded like any other
        assertThat(trace).contains(name.equals("h2") ? "rollback" : "commit");
    }

    @Test
    void commit_of_a_holder_that_has_its_lock_goes_through() {
        accounts.inTransaction(account, () -> added(1));

        assertThat(balance()).isOne();
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void loss_is_told_when_the_body_succeeded_outside_of_any_transaction() {
        assertThatThrownBy(() -> accounts.locked(account, this::takenAway))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(NoLockException.class);
    }

    @Test
    void loss_after_a_guarded_commit_is_not_thrown_because_a_retry_would_do_it_again() {
        assertThat(accounts.locked(account, () -> {
                    tx().executeWithoutResult(s -> add(1));
                    return takenAway();
                }))
                .isTrue();

        assertThat(balance()).isOne();
    }

    @Test
    void exception_of_the_body_wins_over_the_loss() {
        IllegalArgumentException own = new IllegalArgumentException("own");

        assertThat(catchThrowable(() -> accounts.locked(account, () -> {
                    takenAway();
                    throw own;
                })))
                .isSameAs(own)
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasOnlyElementsOfType(NoLockException.class));
    }

    @Test
    void same_lock_on_the_same_thread_is_joined() {
        assertThat(accounts.locked(account, () -> accounts.inTransaction(account, () -> added(1))))
                .isTrue();

        assertThat(trace).containsExactly("lock", "begin", "commit", "unlock");
    }

    @Test
    void another_thread_does_not_join() {
        accounts.locked(account, () -> {
            assertThat(catchThrowable(() -> result(threads.submit(() -> accounts.locked(account, () -> true)))))
                    .hasCauseInstanceOf(CannotAcquireLockException.class);
            return true;
        });
    }

    @Test
    void inside_an_outer_transaction_the_lock_is_kept_until_that_has_ended() {
        tx().executeWithoutResult(s -> {
            accounts.locked(account, () -> added(1));
            assertThat(isHeld(lock)).isTrue();
            // once more, for the transaction has it
            accounts.inTransaction(account, () -> added(10));
            assertThat(other.lease(lock).tryAcquire()).isEmpty();
        });

        assertThat(balance()).isEqualTo(11);
        assertThat(isHeld(lock)).isFalse();
        assertThat(trace).containsExactly("begin", "lock", "commit", "unlock");
    }

    @Test
    void inside_an_outer_transaction_that_rolls_back_the_lock_is_kept_until_then() {
        tx().executeWithoutResult(s -> {
            accounts.locked(account, () -> added(1));
            s.setRollbackOnly();
        });

        assertThat(balance()).isZero();
        assertThat(trace).containsExactly("begin", "lock", "rollback", "unlock");
    }

    @Test
    void new_transaction_under_a_lock_that_the_outer_transaction_keeps_does_not_wait_for_it() {
        tx().executeWithoutResult(s -> accounts.locked(account, () -> newTx().execute(inner -> added(1))));

        assertThat(balance()).isOne();
    }

    @Test
    void outer_transaction_whose_snapshot_is_older_than_the_grant_is_refused() {
        TransactionTemplate repeatable = tx();
        if (!name.equals("h2")) {
            repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        }

        Throwable refused = catchThrowable(() -> repeatable.executeWithoutResult(s -> {
            if (name.equals("h2")) {
                // its REPEATABLE READ has no snapshot of the whole database; the level that has one has no constant
                jdbc.execute((Connection connection) -> {
                    connection.setTransactionIsolation(H2_SNAPSHOT);
                    return true;
                });
            }
            assertThat(balance()).isZero();
            changedByAnotherHolder();
            accounts.locked(account, () -> {
                throw new AssertionError("would have worked on old data: " + balance());
            });
        }));

        assertThat(refused)
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(StaleSnapshotException.class);
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void outer_transaction_that_is_refused_can_not_be_committed_by_catching_the_exception() {
        TransactionTemplate repeatable = tx();
        repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);

        Throwable refused = catchThrowable(() -> repeatable.executeWithoutResult(s -> {
            assertThat(balance()).isZero();
            changedByAnotherHolder();
            assertThat(catchThrowable(() -> accounts.locked(account, () -> true)))
                    .isInstanceOf(
                            name.equals("h2") ? IllegalStateException.class : PessimisticLockingFailureException.class);
            add(1);
        }));

        assertThat(refused).isNotNull();
        assertThat(balance()).isEqualTo(100);
    }

    /** Under the lock, from another thread. */
    private void changedByAnotherHolder() {
        assertThat(catchThrowable(() ->
                        result(threads.submit(() -> accounts.inTransaction(account, () -> added(100))))))
                .isNull();
    }

    @Test
    void session_lock_keeps_its_order_inside_an_outer_transaction_too() {
        tx().executeWithoutResult(s -> accounts.session(account, () -> added(1)));

        assertThat(trace).containsExactly("begin", "lock", "commit", "unlock");
    }

    @Test
    void commit_under_a_session_lock_that_is_known_to_be_lost_is_refused() {
        List<Connection> sessions = new CopyOnWriteArrayList<>();
        CountDownLatch died = new CountDownLatch(1);
        locks = closing(Locks.builder(lockPool)
                .sessionDataSource(new DelegatingDataSource(database.dataSource()) {
                    @Override
                    public Connection getConnection() throws SQLException {
                        sessions.add(super.getConnection());
                        return sessions.get(sessions.size() - 1);
                    }
                })
                .listener(event -> {
                    if (event.kind() == LockEvent.Kind.LOST) {
                        died.countDown();
                    }
                })
                .build());
        start();

        assertThatThrownBy(() -> accounts.session(
                        account,
                        () -> tx().execute(s -> {
                            add(1);
                            sessions.forEach(LockedGuardTest::end);
                            await(died);
                            return true;
                        })))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    private static void end(Connection session) {
        try {
            session.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
