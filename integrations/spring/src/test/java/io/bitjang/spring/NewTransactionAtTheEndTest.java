// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import java.sql.Savepoint;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A transaction under a lock ends, and a listener of its end begins another one: an audit entry, an outbox. */
class NewTransactionAtTheEndTest extends OnSpring {

    @Configuration
    @EnableLocking
    static class Application {
        @Bean
        PlatformTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    private enum Phase {
        BEFORE_COMMIT,
        BEFORE_COMPLETION,
        AFTER_COMMIT,
        AFTER_COMPLETION
    }

    private record Listener(Phase phase, int order, Runnable work) implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return order;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            in(Phase.BEFORE_COMMIT);
        }

        @Override
        public void beforeCompletion() {
            in(Phase.BEFORE_COMPLETION);
        }

        @Override
        public void afterCommit() {
            in(Phase.AFTER_COMMIT);
        }

        @Override
        public void afterCompletion(int status) {
            in(Phase.AFTER_COMPLETION);
        }

        private void in(Phase now) {
            if (now == phase) {
                work.run();
            }
        }
    }

    private static final int EARLY = Ordered.HIGHEST_PRECEDENCE + 1;
    private static final int LATE = Ordered.LOWEST_PRECEDENCE;

    private LockTemplate template;
    private TransactionTemplate outer;
    private TransactionTemplate apart;

    @BeforeEach
    void start() {
        AnnotationConfigApplicationContext context = context(Application.class);
        template = context.getBean(LockTemplate.class);
        PlatformTransactionManager transactions = context.getBean(PlatformTransactionManager.class);
        outer = new TransactionTemplate(transactions);
        apart = new TransactionTemplate(transactions);
        apart.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    }

    private static void listen(Phase phase, int order, Runnable work) {
        TransactionSynchronizationManager.registerSynchronization(new Listener(phase, order, work));
    }

    /** An operator takes it away, and another node has it now. */
    private void takenAway() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
        assertThat(other.lease(lock).tryAcquire()).isPresent();
    }

    /** The other node gives it back, for the next round. */
    private void givenBack() {
        long fence = other.admin().find(lock).orElseThrow().fence();
        assertThat(other.admin().forceRelease(lock, fence, "admin", "test")).isTrue();
    }

    @Test
    void new_transaction_before_the_commit_does_not_wait_for_the_one_that_is_about_to_commit() {
        for (Phase phase : new Phase[] {Phase.BEFORE_COMMIT, Phase.BEFORE_COMPLETION}) {
            template.run(
                    lock,
                    Wait.none(),
                    () -> outer.executeWithoutResult(status -> {
                        listen(phase, LATE, () -> apart.executeWithoutResult(inner -> add(1)));
                    }));
        }

        assertThat(balance()).isEqualTo(2);
    }

    @Test
    void next_transaction_under_the_same_lock_is_guarded_again() {
        assertThatThrownBy(() -> template.run(lock, Wait.none(), () -> {
                    outer.executeWithoutResult(status -> {
                        listen(Phase.BEFORE_COMMIT, LATE, () -> apart.executeWithoutResult(inner -> add(1)));
                    });
                    catchThrowable(() -> outer.executeWithoutResult(status -> {
                        listen(Phase.BEFORE_COMMIT, LATE, () -> {
                            throw new IllegalStateException("rolled back after its guard");
                        });
                    }));
                    takenAway();
                    outer.executeWithoutResult(status -> add(10));
                }))
                .isNotNull();

        assertThat(balance()).isOne();
    }

    @Test
    void new_transaction_before_the_commit_is_refused_if_the_guard_that_it_relies_on_is_gone() {
        AtomicReference<Savepoint> beforeTheGuard = new AtomicReference<>();

        assertThat(catchThrowable(() -> template.run(
                        lock,
                        Wait.none(),
                        () -> outer.executeWithoutResult(status -> {
                            jdbc.execute((ConnectionCallback<Boolean>) connection -> {
                                beforeTheGuard.set(connection.setSavepoint());
                                return true;
                            });
                            listen(Phase.BEFORE_COMMIT, LATE, () -> {
                                jdbc.execute((ConnectionCallback<Boolean>) connection -> {
                                    connection.rollback(beforeTheGuard.get());
                                    return true;
                                });
                                takenAway();
                                apart.executeWithoutResult(inner -> add(1));
                            });
                        }))))
                .isNotNull();

        assertThat(balance()).isZero();
    }

    @Test
    void new_transaction_after_the_commit_is_guarded_itself() {
        for (Phase phase : new Phase[] {Phase.AFTER_COMMIT, Phase.AFTER_COMPLETION}) {
            for (int order : new int[] {EARLY, LATE}) {
                catchThrowable(() -> template.run(
                        lock,
                        Wait.none(),
                        () -> outer.executeWithoutResult(status -> {
                            listen(
                                    phase,
                                    order,
                                    () -> apart.executeWithoutResult(inner -> {
                                        add(1);
                                        trace.add("added");
                                        takenAway();
                                    }));
                        })));
                givenBack();

                assertThat(trace).contains("added");
                assertThat(balance()).as("%s %s", phase, order).isZero();
                trace.clear();
            }
        }
    }

    @Test
    void new_transaction_after_the_commit_of_one_that_has_kept_the_lock_is_guarded_itself() {
        for (Phase phase : new Phase[] {Phase.AFTER_COMMIT, Phase.AFTER_COMPLETION}) {
            catchThrowable(() -> outer.executeWithoutResult(status -> {
                template.run(lock, Wait.none(), () -> trace.add("kept"));
                listen(phase, EARLY, () -> {
                    takenAway();
                    apart.executeWithoutResult(inner -> template.run(lock, Wait.none(), () -> {
                        add(1);
                        trace.add("added");
                    }));
                });
            }));
            givenBack();

            assertThat(trace).contains("kept", "added");
            assertThat(balance()).as("%s", phase).isZero();
            trace.clear();
        }
    }
}
