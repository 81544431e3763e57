// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** The lock is taken before the transaction begins and freed after it has committed, whatever else is around the method. */
class LockedOrderTest extends OnSpring {

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    @EnableResilientMethods
    @EnableAsync
    static class Application {
        @Bean
        TracedTransactions transactions(DataSource dataSource, Trace trace) {
            return new TracedTransactions(dataSource, trace);
        }

        @Bean
        Orders orders(Trace trace) {
            return new Orders(trace);
        }
    }

    static class Orders {
        private final Trace trace;
        private int attempts;
        private String thread;

        Orders(Trace trace) {
            this.trace = trace;
        }

        @Locked("order:#{#id}")
        @Transactional
        public void ship(long id) {
            trace.add("body");
        }

        @Locked(value = "order:#{#id}", kind = Locked.Kind.SESSION)
        @Transactional
        public void pack(long id) {
            trace.add("body");
        }

        @Retryable(includes = ConcurrencyFailureException.class, delay = 1)
        @Locked("order:#{#id}")
        @Transactional
        public void shipAtLast(long id) {
            trace.add("body");
            if (++attempts < 3) {
                throw new ConcurrencyFailureException("not yet");
            }
        }

        @Async
        @Retryable(includes = ConcurrencyFailureException.class, delay = 1)
        @Locked("order:#{#id}")
        @Transactional
        public CompletableFuture<String> shipLater(long id) {
            trace.add("body");
            thread = Thread.currentThread().getName();
            return CompletableFuture.completedFuture("shipped");
        }
    }

    @Test
    void lock_begin_commit_unlock() {
        Orders orders = context(Application.class).getBean(Orders.class);

        orders.ship(account);

        assertThat(trace).containsExactly("lock", "begin", "body", "commit", "unlock");
    }

    @Test
    void lock_begin_commit_unlock_with_a_session_lock() {
        Orders orders = context(Application.class).getBean(Orders.class);

        orders.pack(account);

        assertThat(trace).containsExactly("lock", "begin", "body", "commit", "unlock");
    }

    @Test
    void retry_is_outside_and_takes_the_lock_anew_for_each_attempt() {
        Orders orders = context(Application.class).getBean(Orders.class);

        orders.shipAtLast(account);

        assertThat(trace)
                .containsExactly(
                        "lock",
                        "begin",
                        "body",
                        "rollback",
                        "unlock", //
                        "lock",
                        "begin",
                        "body",
                        "rollback",
                        "unlock", //
                        "lock",
                        "begin",
                        "body",
                        "commit",
                        "unlock");
    }

    @Test
    void async_is_outside_and_the_lock_is_taken_where_the_work_is_done() throws Exception {
        Orders orders = context(Application.class).getBean(Orders.class);

        Future<String> later = orders.shipLater(account);

        assertThat(result(later)).isEqualTo("shipped");
        assertThat(trace).containsExactly("lock", "begin", "body", "commit", "unlock");
        assertThat(orders)
                .extracting("thread")
                .isNotEqualTo(Thread.currentThread().getName());
    }

    @Configuration
    @EnableTransactionManagement(order = 100)
    @EnableLocking
    static class EarlyTransactions {
        @Bean
        TracedTransactions transactions(DataSource dataSource, Trace trace) {
            return new TracedTransactions(dataSource, trace);
        }

        @Bean
        Orders orders(Trace trace) {
            return new Orders(trace);
        }
    }

    @Configuration
    static class EvenEarlierLocks {
        @Bean
        LockingSettings settings() {
            return LockingSettings.defaults().withOrder(99);
        }
    }

    @Test
    void transaction_outside_of_the_lock_fails_at_start_and_says_what_to_change() {
        assertThatThrownBy(() -> context(EarlyTransactions.class))
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Orders.")
                .hasMessageContaining("transaction's advisor has the order 100")
                .hasMessageContaining("@EnableTransactionManagement(order = ...)")
                .hasMessageContaining("LockingSettings.defaults().withOrder(...)");
    }

    @Test
    void what_the_message_says_helps() {
        Orders orders = context(EarlyTransactions.class, EvenEarlierLocks.class).getBean(Orders.class);

        orders.ship(account);

        assertThat(trace).containsExactly("lock", "begin", "body", "commit", "unlock");
    }

    @Configuration
    @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
    @EnableLocking
    static class EarlyAsync {
        @Bean
        Mails mails() {
            return new Mails();
        }
    }

    static class Mails {
        @Async
        @Locked("mails")
        public void send() {}
    }

    @Test
    void async_inside_of_the_lock_fails_at_start_and_says_what_to_change() {
        assertThatThrownBy(() -> context(EarlyAsync.class))
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Mails.send")
                .hasMessageContaining("@EnableAsync");
    }
}
