// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Order;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** What becomes of JPA's hint for the longest wait without Bitjang; docs/aggregates.md shows both. */
class PlainHibernateTest extends OnJpa {

    private static final long GIVE_UP = 5_000;

    /** How long it took to fail, or -1 if it did not within five seconds. */
    private long waited(long number, int millis) throws Exception {
        EntityManager holder = factory.createEntityManager();
        holder.getTransaction().begin();
        AggregateLocks.of(holder).lock(Order.class, number, Wait.none());
        long before = System.nanoTime();
        CompletableFuture<Throwable> failure =
                CompletableFuture.supplyAsync(() -> catchThrowable(() -> inTx(em -> em.find(
                        Order.class,
                        number,
                        LockModeType.PESSIMISTIC_WRITE,
                        Map.of("jakarta.persistence.lock.timeout", millis)))));
        try {
            assertThat(failure.get(GIVE_UP, TimeUnit.MILLISECONDS)).isNotNull();
            return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before);
        } catch (TimeoutException e) {
            return -1;
        } finally {
            holder.getTransaction().rollback();
            holder.close();
            failure.get(1, TimeUnit.MINUTES);
        }
    }

    @Test
    void the_hint_is_kept_rounded_up_or_ignored() throws Exception {
        long number = newOrder();
        long none = waited(number, 0);
        long brief = waited(number, 300);
        long longer = waited(number, 2000);
        System.out.printf(
                "%s: plain Hibernate waits %d, %d, %d ms for 0, 300, 2000 (-1: over %d)%n",
                name, none, brief, longer, GIVE_UP);

        assertThat(none).isBetween(0L, 2_000L);
        switch (name) {
            case "postgresql" -> assertThat(brief).isBetween(295L, 800L);
            case "mysql" -> assertThat(brief).isEqualTo(-1);
            default -> assertThat(brief).isBetween(950L, 1_800L);
        }
        assertThat(longer).satisfies(took -> {
            if (name.equals("mysql")) {
                assertThat(took).isEqualTo(-1);
            } else {
                assertThat(took).isBetween(1_950L, 3_500L);
            }
        });
    }
}
