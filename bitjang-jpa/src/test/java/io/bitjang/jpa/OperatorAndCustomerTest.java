// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.internal.AggregateIntegrator;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.Order;
import jakarta.persistence.EntityManager;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.RollbackException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator starts the shipping of an order while its customer changes the address. */
class OperatorAndCustomerTest extends OnJpa {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    /** The one who comes first, and the one who comes while the first is at it. */
    private record Pair(Consumer<Order> first, Consumer<Order> second) {}

    private static Pair pair(boolean operatorFirst) {
        Consumer<Order> ship = Order::ship;
        Consumer<Order> move = order -> order.moveTo(new Address("Busan", "2"));
        return operatorFirst ? new Pair(ship, move) : new Pair(move, ship);
    }

    private Order found(long number) {
        return tx(em -> em.find(Order.class, number));
    }

    /** It went where the order says that it should go, or it has not gone. */
    private void assertConsistent(long number) {
        Order order = found(number);
        if (order.state() == Order.State.SHIPPED) {
            assertThat(order.shippedTo()).isEqualTo(order.address().city());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void pessimistic(boolean operatorFirst) throws Exception {
        long number = newOrder();
        Pair pair = pair(operatorFirst);
        EntityManager first = factory.createEntityManager();
        first.getTransaction().begin();
        Order seen = AggregateLocks.of(first).lock(Order.class, number, PATIENT);
        CountDownLatch begun = new CountDownLatch(1);
        Future<Throwable> second = threads.submit(() -> catchThrowable(() -> inTx(em -> {
            begun.countDown();
            pair.second().accept(AggregateLocks.of(em).lock(Order.class, number, PATIENT));
        })));
        begun.await();
        assertThatThrownBy(() -> second.get(150, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

        pair.first().accept(seen);
        first.getTransaction().commit();
        first.close();

        Throwable outcome = second.get(30, TimeUnit.SECONDS);
        if (operatorFirst) {
            assertThat(outcome).isInstanceOf(IllegalStateException.class).hasMessage("It is on its way to Seoul");
            assertThat(found(number).address().city()).isEqualTo("Seoul");
        } else {
            assertThat(outcome).isNull();
            assertThat(found(number).shippedTo()).isEqualTo("Busan");
        }
        assertConsistent(number);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void optimistic(boolean operatorFirst) {
        long number = newOrder();
        Pair pair = pair(operatorFirst);
        EntityManager first = factory.createEntityManager();
        first.getTransaction().begin();
        Order seen = first.find(Order.class, number);

        inTx(em -> pair.second().accept(em.find(Order.class, number)));
        pair.first().accept(seen);

        assertThatThrownBy(first.getTransaction()::commit)
                .isInstanceOf(RollbackException.class)
                .hasCauseInstanceOf(OptimisticLockException.class)
                .cause()
                .isNotInstanceOf(VersionConflictException.class);
        first.close();
        assertConsistent(number);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void with_the_version_of_the_form(boolean operatorFirst) {
        long number = newOrder();
        Pair pair = pair(operatorFirst);
        VersionToken form = tx(em -> AggregateLocks.of(em).versionOf(em.find(Order.class, number)));
        String hidden = form.value();

        inTx(em -> pair.second().accept(AggregateLocks.of(em).atVersion(Order.class, number, form)));

        assertThatThrownBy(() -> inTx(em -> pair.first()
                        .accept(AggregateLocks.of(em).atVersion(Order.class, number, VersionToken.parse(hidden)))))
                .isInstanceOf(OptimisticLockException.class)
                .isInstanceOfSatisfying(VersionConflictException.class, conflict -> {
                    assertThat(conflict.aggregateType()).isEqualTo(Order.class);
                    assertThat(conflict.aggregateId()).isEqualTo(number);
                    assertThat(conflict.given()).isEqualTo(form);
                    assertThat(conflict.found()).isEqualTo(1L);
                })
                .hasMessageContaining("the version of the form is 0, that of the aggregate 1");
        assertConsistent(number);
    }

    /** The pessimistic lock alone does not help the one who decided on what an old page showed. */
    @Test
    void a_form_that_is_current_is_accepted() {
        long number = newOrder();
        inTx(em -> AggregateLocks.of(em).atVersion(Order.class, number, 0L).ship());

        assertThat(found(number).state()).isEqualTo(Order.State.SHIPPED);
    }

    @Test
    void without_protection_it_goes_to_the_old_address() {
        long number = newOrder();
        try (var plain = factory(pool, java.util.Map.of(AggregateIntegrator.SWITCH, "false"))) {
            String shownToOperator = found(number).address().city();

            inTx(em -> em.createQuery("UPDATE Order o SET o.address.city = 'Busan' WHERE o.number = :n")
                    .setParameter("n", number)
                    .executeUpdate());
            tx(
                    plain,
                    em -> em.createQuery(
                                    "UPDATE Order o SET o.state = :shipped, o.shippedTo = :city WHERE o.number = :n")
                            .setParameter("shipped", Order.State.SHIPPED)
                            .setParameter("city", shownToOperator)
                            .setParameter("n", number)
                            .executeUpdate());
        }

        Order order = found(number);
        assertThat(order.shippedTo()).isEqualTo("Seoul");
        assertThat(order.address().city()).isEqualTo("Busan");
    }
}
