// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import io.bitjang.jpa.shop.Memo;
import io.bitjang.jpa.shop.Order;
import io.bitjang.jpa.shop.OrderLine;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityNotFoundException;
import jakarta.persistence.LockModeType;
import jakarta.persistence.LockTimeoutException;
import jakarta.persistence.PessimisticLockException;
import jakarta.persistence.TransactionRequiredException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AggregateLockTest extends OnJpa {

    @Test
    void a_locked_aggregate_is_refused_at_once() throws Exception {
        long number = newOrder();
        try (AutoCloseable held = holding(number)) {
            long took = shortest(999, () -> {
                long before = System.nanoTime();
                refused(number, Wait.none());
                return millisSince(before);
            });
            assertThat(took).isLessThan(1000);
            Throwable failure = refused(number, Wait.none());
            assertThat(failure).isInstanceOf(AggregateBusyException.class).isInstanceOf(LockTimeoutException.class);
            assertThat(((AggregateFailure) failure).aggregateType()).isEqualTo(Order.class);
            assertThat(((AggregateFailure) failure).aggregateId()).isEqualTo(number);
            assertThat(failure).hasMessage("Order " + number + " is locked by another transaction");
        }
        inTx(em -> assertThat(AggregateLocks.of(em)
                        .lock(Order.class, number, Wait.none())
                        .number())
                .isEqualTo(number));
    }

    @Test
    void a_change_that_is_not_written_yet_does_not_make_it_wait() throws Exception {
        long number = newOrder();
        assertThat(shortest(999, () -> refusedAfterAChange(number))).isLessThan(1000);
    }

    private long refusedAfterAChange(long number) throws Exception {
        EntityManager em = factory.createEntityManager();
        em.getTransaction().begin();
        em.find(Order.class, number).ship();
        try (AutoCloseable held = holding(number)) {
            long before = System.nanoTime();
            assertThatThrownBy(() -> AggregateLocks.of(em).lock(Order.class, number, Wait.none()))
                    .isInstanceOf(AggregateBusyException.class);
            return millisSince(before);
        } finally {
            em.getTransaction().rollback();
            em.close();
        }
    }

    private static void at(EntityManager em, int isolation) {
        em.unwrap(org.hibernate.Session.class).doWork(connection -> connection.setTransactionIsolation(isolation));
    }

    @Test
    void what_is_returned_is_current() throws Exception {
        long number = newOrder();
        inTx(em -> {
            at(em, Connection.TRANSACTION_READ_COMMITTED);
            Order seen = em.find(Order.class, number);
            OrderLine line = seen.lines().get(0);
            assertThat(line.quantity()).isEqualTo(1);
            assertThat(seen.lines()).hasSize(2);
            inTx(other -> {
                Order order = other.find(Order.class, number);
                order.lines().get(0).change(7);
                order.removeLine(order.lines().get(1));
                order.addLine(number + 3, "salt", 3);
            });

            Order locked = AggregateLocks.of(em).lock(Order.class, number, Wait.none());
            assertThat(locked).isSameAs(seen);
            assertThat(line.quantity()).isEqualTo(7);
            assertThat(locked.lines()).extracting(OrderLine::id).containsExactlyInAnyOrder(number + 1, number + 3);
            assertThat(locked.version()).isEqualTo(1);
            assertThat(em.getLockMode(locked)).isEqualTo(LockModeType.PESSIMISTIC_WRITE);
            locked.ship();
        });
    }

    @Test
    void a_part_that_was_read_alone_is_current_too() {
        long number = newOrder();
        inTx(em -> {
            at(em, Connection.TRANSACTION_READ_COMMITTED);
            OrderLine line = em.find(OrderLine.class, number + 1);
            inTx(other -> other.find(Order.class, number).lines().get(0).change(7));
            Order locked = AggregateLocks.of(em).lock(Order.class, number, Wait.none());

            assertThat(line.quantity()).isEqualTo(7);
            assertThat(locked.lines()).contains(line);
            assertThat(locked.version()).isEqualTo(1);
            locked.ship();
        });
    }

    @Test
    void a_snapshot_from_before_is_refused() {
        long number = newOrder();
        EntityManager em = factory.createEntityManager();
        em.getTransaction().begin();
        at(em, Connection.TRANSACTION_REPEATABLE_READ);
        // another one, but the snapshot is of everything, or of these tables at least
        assertThat(em.find(Order.class, newOrder()).lines()).hasSize(2);
        inTx(other -> other.find(Order.class, number).lines().get(0).change(7));

        try {
            assertThatThrownBy(() -> AggregateLocks.of(em).lock(Order.class, number, Wait.none()))
                    .isInstanceOf(StaleAggregateException.class)
                    .isInstanceOf(PessimisticLockException.class)
                    .hasMessageContaining("lock before reading");
            assertThat(em.getTransaction().getRollbackOnly()).isTrue();
        } finally {
            em.getTransaction().rollback();
            em.close();
        }
    }

    @Test
    void changes_from_before_the_lock_are_not_lost() {
        long number = newOrder();
        inTx(em -> {
            em.find(Order.class, number).lines().get(0).change(7);
            AggregateLocks.of(em).lock(Order.class, number, Wait.none());
        });

        inTx(em -> assertThat(em.find(OrderLine.class, number + 1).quantity()).isEqualTo(7));
    }

    @Test
    void a_deadlock_is_told_to_one_of_the_two() throws Exception {
        long one = newOrder();
        long two = newOrder();
        CyclicBarrier both = new CyclicBarrier(2);
        List<Future<Throwable>> results = List.of(
                threads.submit(() -> crosswise(one, two, both)), threads.submit(() -> crosswise(two, one, both)));

        List<Throwable> failures = new java.util.ArrayList<>();
        for (Future<Throwable> result : results) {
            Throwable failure = result.get(60, TimeUnit.SECONDS);
            if (failure != null) {
                failures.add(failure);
            }
        }

        assertThat(failures).hasSize(1);
        assertThat(failures.get(0))
                .isInstanceOf(AggregateDeadlockException.class)
                .isInstanceOf(PessimisticLockException.class);
        assertThat(((AggregateFailure) failures.get(0)).aggregateId()).isIn(one, two);
    }

    private Throwable crosswise(long first, long second, CyclicBarrier both) {
        return catchThrowable(() -> inTx(em -> {
            AggregateLocks locks = AggregateLocks.of(em);
            locks.lock(Order.class, first, Wait.none());
            try {
                both.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            locks.lock(Order.class, second, Wait.upTo(Duration.ofSeconds(30)));
        }));
    }

    @Test
    void several_are_locked_by_one_call_in_the_order_of_the_question() throws Exception {
        long one = newOrder();
        long two = newOrder();
        inTx(em -> {
            AggregateLocks locks = AggregateLocks.of(em);
            assertThat(locks.lockAll(Order.class, List.of(two, one, two), Wait.none()))
                    .extracting(Order::number)
                    .containsExactly(two, one);
            assertThat(locks.lockAll(Order.class, List.of(), Wait.none())).isEmpty();
            assertThat(refused(one, Wait.none())).isInstanceOf(AggregateBusyException.class);
            assertThat(refused(two, Wait.none())).isInstanceOf(AggregateBusyException.class);
        });
        try (AutoCloseable held = holding(two)) {
            assertThatThrownBy(() ->
                            inTx(em -> AggregateLocks.of(em).lockAll(Order.class, List.of(one, two), Wait.none())))
                    .isInstanceOfSatisfying(
                            AggregateBusyException.class,
                            e -> assertThat(e.aggregateId()).isEqualTo(List.of(one, two)));
        }
    }

    @Test
    void bad_input_is_refused_with_a_reason() {
        long number = newOrder();
        inTx(em -> {
            AggregateLocks locks = AggregateLocks.of(em);
            assertThatThrownBy(() -> locks.lock(Memo.class, 1L, Wait.none()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has no @Version");
            assertThatThrownBy(() -> locks.atVersion(Memo.class, 1L, 1)).hasMessageContaining("has no @Version");
            assertThatThrownBy(() -> locks.lock(String.class, 1L, Wait.none()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> locks.lock(Account.class, 1L, Wait.none()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("The id of Account is of type String, not Long: 1");
            assertThatThrownBy(() -> locks.lock(Order.class, 5, Wait.none()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("The id of Order is of type Long, not Integer: 5");
            assertThatThrownBy(() -> locks.lock(Order.class, null, Wait.none()))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> locks.lock(Order.class, number, null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> locks.lock(Order.class, -1L, Wait.none()))
                    .isInstanceOf(EntityNotFoundException.class)
                    .hasMessage("Order -1 is not there");
            assertThatThrownBy(() -> locks.lockAll(Order.class, List.of(number, -1L), Wait.none()))
                    .isInstanceOf(EntityNotFoundException.class)
                    .hasMessage("Order -1 is not there");
            assertThatThrownBy(() -> locks.atVersion(Order.class, -1L, 0L)).isInstanceOf(EntityNotFoundException.class);
            assertThatThrownBy(() -> locks.forceIncrement(Order.class, -1L))
                    .isInstanceOf(EntityNotFoundException.class);
            assertThatThrownBy(() -> locks.versionOf(new Order(number)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("detached");
            // none of that has cost the transaction
            assertThat(locks.lock(Order.class, number, Wait.none()).number()).isEqualTo(number);
        });
    }

    @Test
    void without_a_transaction_nothing_is_locked() {
        long number = newOrder();
        try (EntityManager em = factory.createEntityManager()) {
            AggregateLocks locks = AggregateLocks.of(em);
            assertThatThrownBy(() -> locks.lock(Order.class, number, Wait.none()))
                    .isInstanceOf(TransactionRequiredException.class);
            assertThatThrownBy(() -> locks.atVersion(Order.class, number, 0L))
                    .isInstanceOf(TransactionRequiredException.class);
            assertThatThrownBy(() -> locks.forceIncrement(Order.class, number))
                    .isInstanceOf(TransactionRequiredException.class);
        }
    }
}
