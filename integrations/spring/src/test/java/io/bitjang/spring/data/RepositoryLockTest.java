// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.AggregateBusyException;
import io.bitjang.jpa.AggregateDeadlockException;
import io.bitjang.jpa.AggregateFailure;
import io.bitjang.jpa.AggregateTimeoutException;
import io.bitjang.jpa.StaleAggregateException;
import io.bitjang.spring.data.shop.Order;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

/** Locks of a repository last as long as the transaction of the service. */
class RepositoryLockTest extends OnSpringData {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(20));

    @Test
    void who_does_not_want_to_wait_is_told_that_another_has_it() throws Exception {
        long number = newOrder();
        try (AutoCloseable held = holding(number)) {
            Throwable busy = catchThrowable(() -> shop.add(number, 1, Wait.none()));

            assertThat(busy)
                    .isInstanceOf(CannotAcquireLockException.class)
                    .cause()
                    .isInstanceOf(AggregateBusyException.class);
            AggregateFailure told = (AggregateFailure) busy.getCause();
            assertThat(told.aggregateType()).isEqualTo(Order.class);
            assertThat(told.aggregateId()).isEqualTo(number);
        }
        assertThat(shop.add(number, 1, Wait.none())).isEqualTo(2);
    }

    @Test
    void a_wait_is_kept_to_the_millisecond() throws Exception {
        long number = newOrder();
        long millis = 300;
        try (AutoCloseable held = holding(number)) {
            // the best of some: a machine that is busy with other things makes a wait longer, and never shorter; a
            // limit that
            // does not reach the statement makes it longer every time
            long took = Long.MAX_VALUE;
            for (int i = 0; i < 12 && took > millis + 100; i++) {
                long before = System.nanoTime();
                assertThatThrownBy(() -> shop.add(number, 1, Wait.upTo(Duration.ofMillis(millis))))
                        .isInstanceOf(CannotAcquireLockException.class)
                        .hasCauseInstanceOf(AggregateTimeoutException.class);
                took = Math.min(took, millisSince(before));
            }
            assertThat(took).isBetween(millis - 5, millis + 100);
        }
    }

    @Test
    void who_waits_sees_what_the_first_has_done() throws Exception {
        long number = newOrder();
        CountDownLatch changed = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        Future<?> first = threads.submit(() -> inTx(() -> {
            shop.add(number, 10, Wait.none());
            changed.countDown();
            await(enough);
        }));
        await(changed);
        Future<Integer> second = threads.submit(() -> shop.add(number, 100, PATIENT));
        assertThatThrownBy(() -> second.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

        enough.countDown();

        first.get(30, TimeUnit.SECONDS);
        assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo(111);
        assertThat(quantity(number)).isEqualTo(111);
    }

    @Test
    void who_caught_the_refusal_can_not_commit_all_the_same() throws Exception {
        long wanted = newOrder();
        long other = newOrder();
        try (AutoCloseable held = holding(wanted)) {
            assertThatThrownBy(() -> inTx(() -> {
                        orders.findById(other).orElseThrow().moveTo("Busan");
                        assertThatThrownBy(() -> orders.lock(wanted, Wait.none()))
                                .isInstanceOf(CannotAcquireLockException.class);
                    }))
                    .isInstanceOf(UnexpectedRollbackException.class);
        }
        assertThat(city(other)).isEqualTo("Seoul");
    }

    @Test
    void locked_together_two_services_never_wait_for_each_other() throws Exception {
        long one = newOrder();
        long two = newOrder();
        int each = 50;
        List<Future<?>> done = new ArrayList<>();
        for (List<Long> numbers : List.of(List.of(one, two), List.of(two, one))) {
            for (int thread = 0; thread < 2; thread++) {
                done.add(threads.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        inTx(() -> {
                            List<Order> both = orders.lockAll(numbers, PATIENT);
                            assertThat(both).extracting(Order::number).isEqualTo(numbers);
                            both.forEach(
                                    order -> order.line().change(order.line().quantity() + 1));
                        });
                    }
                }));
            }
        }
        for (Future<?> service : done) {
            service.get(30, TimeUnit.SECONDS);
        }
        assertThat(quantity(one)).isEqualTo(1 + 4 * each);
        assertThat(quantity(two)).isEqualTo(1 + 4 * each);
    }

    @Test
    void a_deadlock_is_one_of_springs_exceptions() throws Exception {
        List<Long> numbers = List.of(newOrder(), newOrder());
        CyclicBarrier bothHaveOne = new CyclicBarrier(2);
        List<Future<Throwable>> results = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int first = i;
            results.add(threads.submit(() -> catchThrowable(() -> inTx(() -> {
                orders.lock(numbers.get(first), Wait.none());
                try {
                    bothHaveOne.await(30, TimeUnit.SECONDS);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                orders.lock(numbers.get(1 - first), PATIENT);
            }))));
        }
        List<Throwable> failures = new ArrayList<>();
        for (Future<Throwable> result : results) {
            Throwable failure = result.get(30, TimeUnit.SECONDS);
            if (failure != null) {
                failures.add(failure);
            }
        }
        assertThat(failures).hasSize(1);
        assertThat(failures.get(0))
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(AggregateDeadlockException.class);
    }

    @Test
    void what_a_transaction_has_read_before_is_not_taken_for_current() {
        long read = newOrder();
        long number = newOrder();
        TransactionTemplate repeatable = transactions();
        repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        Throwable failure = catchThrowable(() -> repeatable.executeWithoutResult(status -> {
            orders.findById(read);
            if (name.equals("h2")) {
                // there the snapshot is one of each table, taken at its first use
                orders.findById(number).orElseThrow().line();
            }
            elsewhere(() -> shop.add(number, 1, Wait.none()));
            orders.lock(number, Wait.none());
        }));
        assertThat(failure)
                .isInstanceOf(PessimisticLockingFailureException.class)
                .hasCauseInstanceOf(StaleAggregateException.class);
    }

    @Test
    void the_locks_of_spring_data_itself_work_next_to_it() throws Exception {
        long number = newOrder();
        try (AutoCloseable held = holding(number)) {
            assertThatThrownBy(() -> tx(() -> orders.findForUpdate(number)))
                    .isInstanceOf(PessimisticLockingFailureException.class);
        }
        inTx(() -> {
            assertThat(orders.findForUpdate(number)).isPresent();
            Future<Throwable> other = threads.submit(() -> catchThrowable(() -> shop.add(number, 1, Wait.none())));
            assertThat(other).succeedsWithin(Duration.ofSeconds(10)).isInstanceOf(CannotAcquireLockException.class);
            assertThat(orders.lock(number, Wait.none()).number()).isEqualTo(number);
        });
    }
}
