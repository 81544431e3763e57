// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.internal.AggregateIntegrator;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.Order;
import io.bitjang.jpa.shop.OrderLine;
import io.bitjang.jpa.shop.UnprotectedOrder;
import jakarta.persistence.EntityManager;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.RollbackException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator starts the shipping of an order while its customer changes the address. */
class OperatorAndCustomerTest extends OnJpa {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

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

    /** The customer wants more of a thing, which stands in a part, and nothing in the row of the order. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_change_in_a_part_is_a_change_of_the_order(boolean operatorFirst) {
        long number = newOrder();
        Consumer<Order> more = order -> order.lines().get(0).change(7);
        Pair pair = operatorFirst ? new Pair(Order::ship, more) : new Pair(more, Order::ship);
        EntityManager first = factory.createEntityManager();
        first.getTransaction().begin();
        Order seen = first.find(Order.class, number);
        assertThat(seen.lines().get(0).quantity()).isEqualTo(1);

        inTx(em -> pair.second().accept(em.find(Order.class, number)));
        pair.first().accept(seen);

        assertThatThrownBy(first.getTransaction()::commit).hasCauseInstanceOf(OptimisticLockException.class);
        first.close();
        inTx(em -> {
            Order order = em.find(Order.class, number);
            assertThat(order.state() == Order.State.SHIPPED)
                    .as("one of the two")
                    .isNotEqualTo(order.lines().stream().anyMatch(line -> line.quantity() == 7));
        });
    }

    /** The same entity twice, without a version that could tell: what each of them saw is gone when the other commits. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void without_protection_it_goes_to_the_old_address(boolean operatorFirst) {
        long number = number();
        inTx(em -> em.persist(new UnprotectedOrder(number)));
        Consumer<UnprotectedOrder> ship = UnprotectedOrder::ship;
        Consumer<UnprotectedOrder> move = order -> order.moveTo("Busan");
        EntityManager first = factory.createEntityManager();
        first.getTransaction().begin();
        UnprotectedOrder seen = first.find(UnprotectedOrder.class, number);

        inTx(em -> (operatorFirst ? move : ship).accept(em.find(UnprotectedOrder.class, number)));
        (operatorFirst ? ship : move).accept(seen);
        first.getTransaction().commit();
        first.close();

        inTx(em -> {
            UnprotectedOrder order = em.find(UnprotectedOrder.class, number);
            assertThat(order.shippedTo()).isEqualTo("Seoul");
            assertThat(order.city()).isEqualTo("Busan");
        });
    }

    /** The damage that no version of the root alone can see: the line is not part of its row. */
    @Test
    void without_marks_more_is_ordered_of_what_has_been_shipped() {
        long number = newOrder();
        try (var plain = factory(pool, java.util.Map.of(AggregateIntegrator.SWITCH, "false"))) {
            EntityManager customer = plain.createEntityManager();
            customer.getTransaction().begin();
            Order seen = customer.find(Order.class, number);
            assertThat(seen.state()).isEqualTo(Order.State.PREPARING);

            tx(plain, em -> {
                em.find(Order.class, number).ship();
                return true;
            });
            seen.lines().get(0).change(7);
            customer.getTransaction().commit();
            customer.close();
        }

        inTx(em -> {
            assertThat(em.find(Order.class, number).state()).isEqualTo(Order.State.SHIPPED);
            assertThat(em.find(OrderLine.class, number + 1).quantity()).isEqualTo(7);
        });
    }
}
