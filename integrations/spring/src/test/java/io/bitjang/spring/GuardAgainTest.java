// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** What ends a guard before the commit: a savepoint, a change of the schema, a deadlock. The commit is guarded again, and refused. */
class GuardAgainTest extends OnSpring {

    @Configuration
    @EnableLocking
    static class Application {
        @Bean
        PlatformTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    private LockTemplate template;
    private LockManager manager;
    private TransactionTemplate outer;
    private TransactionTemplate nested;
    private TransactionTemplate apart;

    @BeforeEach
    void start() {
        AnnotationConfigApplicationContext context = context(Application.class);
        template = context.getBean(LockTemplate.class);
        manager = context.getBean(LockManager.class);
        PlatformTransactionManager transactions = context.getBean(PlatformTransactionManager.class);
        outer = new TransactionTemplate(transactions);
        nested = new TransactionTemplate(transactions);
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        apart = new TransactionTemplate(transactions);
        apart.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    }

    private LockId taken() {
        return manager.tryLock(lock.type(), lock.id(), "kim");
    }

    /** An operator takes it away, and another node has it now. */
    private void takenAway() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
    }

    private void rolledBack(Runnable part) {
        nested.executeWithoutResult(status -> {
            part.run();
            status.setRollbackOnly();
        });
    }

    /** On PostgreSQL it is a part of the transaction. */
    private boolean changeOfTheSchemaCommits() {
        String table = "ddl_" + number() + "_" + account;
        jdbc.execute("CREATE TABLE " + table + " (id INT)");
        if (!name.equals("postgresql")) {
            jdbc.execute("DROP TABLE " + table);
        }
        return !name.equals("postgresql");
    }

    @Test
    void check_that_was_rolled_back_to_a_savepoint_is_repeated_and_the_commit_refused() {
        LockId id = taken();

        assertThatThrownBy(() -> outer.executeWithoutResult(status -> {
                    rolledBack(() -> manager.checkLock(id));
                    takenAway();
                    add(1);
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void check_that_was_rolled_back_to_a_savepoint_of_the_applications_own_is_repeated_and_the_commit_refused() {
        LockId id = taken();

        assertThatThrownBy(() -> outer.executeWithoutResult(status -> {
                    jdbc.execute((ConnectionCallback<Boolean>) connection -> {
                        var before = connection.setSavepoint();
                        manager.checkLock(id);
                        connection.rollback(before);
                        return true;
                    });
                    takenAway();
                    add(1);
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void release_that_was_rolled_back_to_a_savepoint_is_no_guard_and_the_commit_refused() {
        LockId id = taken();

        assertThatThrownBy(() -> outer.executeWithoutResult(status -> {
                    rolledBack(() -> manager.releaseLock(id));
                    takenAway();
                    add(1);
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void release_before_a_savepoint_that_was_rolled_back_stays() {
        LockId id = taken();

        outer.executeWithoutResult(status -> {
            manager.checkLock(id);
            add(1);
            manager.releaseLock(id);
            rolledBack(() -> add(10));
        });

        assertThat(balance()).isOne();
        assertThat(isHeld(lock)).isFalse();
    }

    @Test
    void check_that_nobody_has_overtaken_since_lets_the_commit_through() {
        LockId id = taken();

        outer.executeWithoutResult(status -> {
            rolledBack(() -> manager.checkLock(id));
            add(1);
        });

        assertThat(balance()).isOne();
        assertThat(manager.checkLock(id).held()).isTrue();
    }

    @Test
    void lock_that_was_taken_in_a_nested_transaction_that_rolled_back_refuses_the_outer_commit_if_it_was_lost() {
        assertThatThrownBy(() -> outer.executeWithoutResult(status -> {
                    rolledBack(() -> template.run(lock, Wait.none(), () -> add(10)));
                    takenAway();
                    add(1);
                }))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void new_transaction_that_relies_on_the_guard_of_the_outer_one_is_refused_if_that_is_gone() {
        assertThat(catchThrowable(() -> outer.executeWithoutResult(status -> {
                    rolledBack(() -> template.run(lock, Wait.none(), () -> {}));
                    takenAway();
                    apart.executeWithoutResult(inner -> template.run(lock, Wait.none(), () -> add(1)));
                })))
                .isInstanceOfAny(PessimisticLockingFailureException.class, NoLockException.class);

        assertThat(balance()).isZero();
    }

    @Test
    void check_that_an_implicit_commit_has_ended_is_repeated_and_the_commit_refused() {
        LockId id = taken();

        Throwable refused = catchThrowable(() -> outer.executeWithoutResult(status -> {
            manager.checkLock(id);
            if (changeOfTheSchemaCommits()) {
                takenAway();
            }
            add(1);
        }));

        if (name.equals("postgresql")) {
            assertThat(refused).isNull();
            assertThat(balance()).isOne();
        } else {
            assertThat(refused).isInstanceOf(NoLockException.class);
            assertThat(balance()).isZero();
        }
    }

    @Test
    void lock_of_a_transaction_that_an_implicit_commit_has_ended_refuses_the_commit_if_it_was_lost() {
        Throwable refused = catchThrowable(() -> outer.executeWithoutResult(status -> {
            template.run(lock, Wait.none(), () -> trace.add("under the lock"));
            if (changeOfTheSchemaCommits()) {
                takenAway();
            }
            add(1);
        }));

        if (name.equals("postgresql")) {
            assertThat(refused).isNull();
        } else {
            assertThat(refused).isInstanceOf(PessimisticLockingFailureException.class);
            assertThat(balance()).isZero();
        }
    }

    /** But on PostgreSQL, the victim of a deadlock may go on, in a transaction that has lost what it did, the guard included. */
    @Test
    @Timeout(60)
    void victim_of_a_deadlock_that_repeats_its_statement_is_guarded_again_and_the_commit_refused() {
        String table = "crossed_" + number() + "_" + account;
        database.execute("CREATE TABLE " + table + " (id INT PRIMARY KEY, balance INT NOT NULL)");
        closing((AutoCloseable) () -> database.execute("DROP TABLE " + table));
        database.execute("INSERT INTO " + table + " VALUES (1, 0)");
        CountDownLatch rivalHasWritten = new CountDownLatch(1);
        CountDownLatch victimHasWritten = new CountDownLatch(1);
        Future<?> rival = threads.submit(() -> transaction().executeWithoutResult(status -> {
            if (name.equals("postgresql")) {
                jdbc.execute("SET LOCAL deadlock_timeout = '1min'"); // the victim is the one that looks first
            }
            // elsewhere the one that has changed less or, on H2, the one that has begun last
            jdbc.execute("INSERT INTO " + table + " VALUES "
                    + IntStream.range(10, 200).mapToObj(n -> "(" + n + ", 0)").collect(Collectors.joining(", ")));
            jdbc.execute("UPDATE " + table + " SET balance = 1 WHERE id = 1");
            rivalHasWritten.countDown();
            await(victimHasWritten);
            add(7);
        }));
        await(rivalHasWritten);
        LockId id = taken();
        String crosswise = "UPDATE " + table + " SET balance = 2 WHERE id = 1";

        Throwable refused = catchThrowable(() -> outer.executeWithoutResult(status -> {
            manager.checkLock(id);
            add(66);
            victimHasWritten.countDown();
            assertThatThrownBy(() -> jdbc.execute(crosswise)).isInstanceOf(PessimisticLockingFailureException.class);
            assertThatCode(() -> result(rival)).doesNotThrowAnyException();
            takenAway();
            assertThat(catchThrowable(() -> jdbc.execute(crosswise)) == null).isEqualTo(!name.equals("postgresql"));
        }));

        assertThat(refused).isInstanceOf(name.equals("postgresql") ? LockException.class : NoLockException.class);
        assertThat(balance()).isEqualTo(7);
        assertThat(jdbc.queryForObject("SELECT balance FROM " + table + " WHERE id = 1", Integer.class))
                .isOne();
    }
}
