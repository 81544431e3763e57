// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Wait;
import io.bitjang.spring.data.archive.ArchivedOrders;
import io.bitjang.spring.data.shop.Order;
import io.bitjang.spring.data.shop.Orders;
import jakarta.persistence.EntityNotFoundException;
import jakarta.persistence.TransactionRequiredException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.orm.ObjectRetrievalFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What a repository needs to lock: the transaction of its own entity manager, and an aggregate that is there. */
class RepositoryTransactionTest extends OnSpringData {

    private static Map<String, Consumer<Orders>> calls(long number) {
        Map<String, Consumer<Orders>> calls = new LinkedHashMap<>();
        calls.put("lock", repository -> repository.lock(number, Wait.none()));
        calls.put("lockAll", repository -> repository.lockAll(List.of(number), Wait.none()));
        calls.put("atVersion", repository -> repository.atVersion(number, 0L));
        calls.put("forceIncrement", repository -> repository.forceIncrement(number));
        return calls;
    }

    private static ArchivedOrders archive() {
        return application.getBean(ArchivedOrders.class);
    }

    private static TransactionTemplate archiveTransactions() {
        return new TransactionTemplate(application.getBean("archiveTransactions", PlatformTransactionManager.class));
    }

    @Test
    void a_missing_aggregate_is_told_and_the_transaction_goes_on() {
        long other = newOrder();
        inTx(() -> {
            calls(-1)
                    .values()
                    .forEach(call -> assertThatThrownBy(() -> call.accept(orders))
                            .isInstanceOf(ObjectRetrievalFailureException.class)
                            .hasCauseInstanceOf(EntityNotFoundException.class)
                            .hasMessageContaining("Order -1 is not there"));
            orders.lock(other, Wait.none()).moveTo("Busan");
        });
        assertThat(city(other)).isEqualTo("Busan");
    }

    @Test
    void without_a_transaction_nothing_is_locked() {
        long number = newOrder();
        Order detached = orders.findById(number).orElseThrow();
        Map<String, Consumer<Orders>> calls = calls(number);
        calls.put("versionOf", repository -> repository.versionOf(detached));
        calls.forEach((method, call) -> refusedWithoutTransaction("Orders." + method, () -> call.accept(orders)));
    }

    /** Not even with {@code @Transactional} on the repository: the lock would end with the call. */
    @Test
    void no_repository_begins_a_transaction_for_it() {
        long number = newOrder();
        archive().save(new Order(number, "Daegu"));
        refusedWithoutTransaction("ArchivedOrders.lock", () -> archive().lock(number, Wait.none()));
    }

    @Test
    void a_transaction_of_another_persistence_unit_is_none() {
        long number = newOrder();
        archive().save(new Order(number, "Daegu"));
        inTx(() ->
                refusedWithoutTransaction("ArchivedOrders.lock", () -> archive().lock(number, Wait.none())));
        archiveTransactions()
                .executeWithoutResult(
                        status -> refusedWithoutTransaction("Orders.lock", () -> orders.lock(number, Wait.none())));
    }

    private static void refusedWithoutTransaction(String method, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(InvalidDataAccessApiUsageException.class)
                .hasCauseInstanceOf(TransactionRequiredException.class)
                .hasMessageStartingWith(method + " was called without a transaction")
                .hasMessageEndingWith("make the service that calls it @Transactional");
    }

    @Test
    void each_repository_locks_with_its_own_entity_manager() throws Exception {
        long number = newOrder();
        archive().save(new Order(number, "Daegu"));
        try (AutoCloseable held = holding(number)) {
            archiveTransactions().executeWithoutResult(status -> {
                Order archived = archive().lock(number, Wait.none());
                assertThat(archived.city()).isEqualTo("Daegu");
                archived.moveTo("Gwangju");
            });
        }
        assertThat(archive().findById(number).orElseThrow().city()).isEqualTo("Gwangju");
        assertThat(city(number)).isEqualTo("Seoul");
    }

    @Test
    void a_read_only_transaction_can_read_versions_and_nothing_else() {
        long number = newOrder();
        TransactionTemplate readOnly = transactions();
        readOnly.setReadOnly(true);
        readOnly.executeWithoutResult(status -> {
            calls(number).forEach((method, call) -> {
                if (!method.equals("atVersion")) {
                    assertThatThrownBy(() -> call.accept(orders))
                            .isInstanceOf(InvalidDataAccessApiUsageException.class)
                            .hasMessageStartingWith("Orders." + method + " was called in a read-only transaction");
                }
            });
            assertThat(orders.versionOf(orders.atVersion(number, 0L)).value()).isNotEmpty();
        });
        assertThat(version(number)).isZero();
    }
}
