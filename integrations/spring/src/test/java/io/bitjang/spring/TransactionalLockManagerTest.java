// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Offline locks that follow the transactions of plain JDBC. */
class TransactionalLockManagerTest extends OnSpring {

    private TransactionalLockManager manager;

    @BeforeEach
    void follow() {
        manager = new TransactionalLockManager(locks.manager(), pool);
    }

    private LockId take() {
        return manager.tryLock(lock.type(), lock.id(), "kim");
    }

    /** Another has it instead of the holder. */
    private void takenAway(LockId id) {
        assertThat(other.admin().forceRelease(lock, id.fence(), "admin", "test"))
                .isTrue();
        other.manager().tryLock(lock.type(), lock.id(), "lee");
    }

    private void refusedToOthers() {
        assertThatThrownBy(() -> other.manager().tryLock(lock.type(), lock.id(), "lee"))
                .isInstanceOf(AlreadyLockedException.class);
    }

    @Test
    void outside_of_a_transaction_check_and_release_act_at_once() {
        LockId id = take();

        assertThat(manager.checkLock(id).owner()).isEqualTo("kim");
        manager.releaseLock(id);

        assertThat(isHeld(lock)).isFalse();
        assertThatThrownBy(() -> manager.checkLock(id)).isInstanceOf(NoLockException.class);
    }

    @Test
    void check_guards_the_transaction_until_its_commit_even_if_the_lock_expires() throws Exception {
        LockId id = manager.tryLock(lock.type(), lock.id(), "kim", Duration.ofSeconds(1));

        transaction().executeWithoutResult(tx -> {
            manager.checkLock(id);
            assertThatCode(() -> awaitLapse(lock)).doesNotThrowAnyException();
            refusedToOthers();
            add(1);
        });

        assertThat(balance()).isOne();
        other.manager().tryLock(lock.type(), lock.id(), "lee");
    }

    @Test
    void release_frees_the_lock_with_the_commit_and_not_before() {
        LockId id = take();

        transaction().executeWithoutResult(tx -> {
            add(1);
            manager.releaseLock(id);
            refusedToOthers();
        });

        assertThat(isHeld(lock)).isFalse();
        assertThat(balance()).isOne();
    }

    @Test
    void release_in_a_transaction_that_rolls_back_leaves_the_lock_held() {
        LockId id = take();

        transaction().executeWithoutResult(tx -> {
            manager.releaseLock(id);
            tx.setRollbackOnly();
        });

        assertThat(manager.checkLock(id).held()).isTrue();
    }

    @Test
    void taking_extending_and_leaving_stay_when_the_transaction_rolls_back() {
        AtomicReference<LockId> taken = new AtomicReference<>();

        transaction().executeWithoutResult(tx -> {
            taken.set(take());
            manager.renew(taken.get(), Duration.ofMinutes(10));
            manager.extendLockExpiration(taken.get(), Duration.ofHours(1));
            tx.setRollbackOnly();
        });

        assertThat(manager.checkLock(taken.get()).remaining()).isGreaterThan(Duration.ofMinutes(60));
        transaction().executeWithoutResult(tx -> {
            manager.leave(taken.get(), Duration.ofMinutes(1));
            tx.setRollbackOnly();
        });
        assertThat(manager.checkLock(taken.get()).remaining()).isLessThan(Duration.ofMinutes(2));
    }

    @Test
    void take_over_stays_when_the_transaction_rolls_back() {
        LockId id = take();
        AtomicReference<LockId> taken = new AtomicReference<>();

        transaction().executeWithoutResult(tx -> {
            taken.set(manager.takeOver(
                            other.manager().checkLock(id), "lee", Duration.ofMinutes(1), null, "she is on holiday")
                    .orElseThrow());
            tx.setRollbackOnly();
        });

        assertThat(manager.checkLock(taken.get()).owner()).isEqualTo("lee");
    }

    @Test
    void failed_guard_leaves_nothing_to_commit() {
        LockId id = take();
        takenAway(id);

        assertThatThrownBy(() -> transaction().executeWithoutResult(tx -> {
                    add(1);
                    manager.checkLock(id);
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void failed_guard_whose_exception_is_caught_keeps_what_comes_after_from_being_committed() {
        LockId id = take();
        takenAway(id);

        assertThatThrownBy(() -> transaction().executeWithoutResult(tx -> {
                    add(1);
                    assertThat(catchThrowable(() -> manager.releaseLock(id))).isInstanceOf(NoLockException.class);
                    add(10);
                }))
                .isInstanceOf(UnexpectedRollbackException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void failed_guard_is_thrown_again_at_a_commit_that_ignores_rollback_only() {
        LockId id = take();
        takenAway(id);
        JdbcTransactionManager deaf = new JdbcTransactionManager(pool) {
            @Override
            protected boolean shouldCommitOnGlobalRollbackOnly() {
                return true;
            }
        };

        assertThatThrownBy(() -> new TransactionTemplate(deaf).executeWithoutResult(tx -> {
                    assertThat(catchThrowable(() -> manager.checkLock(id))).isInstanceOf(NoLockException.class);
                    add(10);
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void release_in_a_nested_transaction_that_rolls_back_is_undone() {
        LockId id = take();
        TransactionTemplate nested = transaction();
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

        new TransactionTemplate(nested.getTransactionManager()).executeWithoutResult(tx -> {
            add(1);
            nested.executeWithoutResult(inner -> {
                manager.releaseLock(id);
                inner.setRollbackOnly();
            });
        });

        assertThat(manager.checkLock(id).held()).isTrue();
        assertThat(balance()).isOne();
    }

    @Test
    void failed_guard_in_a_nested_transaction_ends_the_outer_one_too() {
        LockId id = take();
        takenAway(id);
        TransactionTemplate nested = transaction();
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

        assertThatThrownBy(() -> new TransactionTemplate(nested.getTransactionManager()).executeWithoutResult(tx -> {
                    add(1);
                    assertThat(catchThrowable(() -> nested.executeWithoutResult(inner -> manager.checkLock(id))))
                            .isNotNull();
                    add(10);
                }))
                .isInstanceOfAny(UnexpectedRollbackException.class, NoLockException.class);

        assertThat(balance()).isZero();
    }

    /** PostgreSQL's guards don't shut each other out; elsewhere the inner one waits for the outer until the database gives up. */
    @Test
    void new_transaction_inside_that_checks_the_same_lock_waits_for_the_outer_one_but_on_postgresql() {
        LockId id = take();
        TransactionTemplate inner = transaction();
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

        Throwable refused = catchThrowable(() -> transaction().executeWithoutResult(tx -> {
            manager.checkLock(id);
            inner.executeWithoutResult(s -> {
                if (name.matches("mysql|mariadb")) {
                    jdbc.execute("SET SESSION innodb_lock_wait_timeout = 1");
                }
                manager.checkLock(id);
            });
        }));

        if (name.equals("postgresql")) {
            assertThat(refused).isNull();
        } else {
            assertThat(refused).isInstanceOf(LockingFailException.class);
        }
    }

    @Test
    void inside_a_transaction_of_another_data_source_nothing_is_promised() {
        LockId id = take();
        DataSource elsewhere = closing(database.pool(1));
        TransactionTemplate foreign = new TransactionTemplate(new DataSourceTransactionManager(elsewhere));

        foreign.executeWithoutResult(tx -> {
            assertThatThrownBy(() -> manager.checkLock(id))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("not one of the data source");
            // bound for re-use in the foreign transaction, but in no transaction of its own
            assertThat(balance()).isZero();
            assertThatThrownBy(() -> manager.releaseLock(id))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("not one of the data source");
        });

        assertThat(manager.checkLock(id).held()).isTrue();
    }

    @Test
    void transaction_without_synchronization_is_refused() {
        LockId id = take();
        DataSourceTransactionManager silent = new DataSourceTransactionManager(pool);
        silent.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);

        assertThatThrownBy(() -> new TransactionTemplate(silent).executeWithoutResult(tx -> manager.checkLock(id)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transactionSynchronization");
    }

    @Test
    void read_only_transaction_can_check_but_not_release() {
        LockId id = take();
        TransactionTemplate reading = transaction();
        reading.setReadOnly(true);

        reading.executeWithoutResult(
                tx -> assertThat(manager.checkLock(id).held()).isTrue());
        assertThatThrownBy(() -> reading.executeWithoutResult(tx -> manager.releaseLock(id)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("read-only")
                .hasMessageNotContaining(id.value());

        assertThat(manager.checkLock(id).held()).isTrue();
    }

    @Test
    void transaction_is_found_whichever_side_knows_the_data_source_by_a_proxy() {
        DataSource lazy = new LazyConnectionDataSourceProxy(pool);
        DataSource aware = new TransactionAwareDataSourceProxy(pool);
        DataSource both = new TransactionAwareDataSourceProxy(lazy);

        releasesWithCommit(new DataSourceTransactionManager(lazy), pool);
        releasesWithCommit(new DataSourceTransactionManager(lazy), lazy);
        releasesWithCommit(new JdbcTransactionManager(both), aware);
        releasesWithCommit(new JdbcTransactionManager(pool), both);
    }

    private void releasesWithCommit(PlatformTransactionManager transactions, DataSource followed) {
        TransactionalLockManager following = new TransactionalLockManager(locks.manager(), followed);
        LockId id = following.tryLock(lock.type(), lock.id(), "kim");
        new TransactionTemplate(transactions).executeWithoutResult(tx -> {
            following.releaseLock(id);
            refusedToOthers();
        });
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void connection_without_auto_commit_in_the_transaction_of_another_manager_is_not_taken_for_a_transaction() {
        LockId id = take();
        HikariConfig config = new HikariConfig();
        pool.copyStateTo(config);
        config.setAutoCommit(false);
        config.setPoolName("auto-commit off");
        DataSource off = closing(new HikariDataSource(config));
        TransactionalLockManager following = new TransactionalLockManager(locks.manager(), off);

        transaction().executeWithoutResult(tx -> {
            assertThat(new JdbcTemplate(off).queryForList("SELECT 1")).hasSize(1);
            assertThatThrownBy(() -> following.releaseLock(id))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("not one of the data source");
        });
        assertThat(isHeld(lock)).isTrue();
    }
}
