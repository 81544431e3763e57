// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Order;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** What becomes of JPA's hint for the longest wait without Bitjang; docs/aggregates.md shows both. */
class PlainHibernateTest extends OnJpa {

    private static final long GIVE_UP = 5_000;
    private static final long NEVER = Long.MAX_VALUE;

    /** How long it took to fail, or without end if it did not within five seconds. */
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
            return NEVER;
        } finally {
            holder.getTransaction().rollback();
            holder.close();
            failure.get(1, TimeUnit.MINUTES);
        }
    }

    @Test
    void the_hint_is_kept_rounded_up_or_ignored() throws Exception {
        long number = newOrder();
        boolean ignored = name.equals("mysql");
        long briefly = name.equals("postgresql") ? 800 : 1_800;
        long none = shortest(2_000, () -> waited(number, 0));
        long brief = shortest(ignored ? NEVER : briefly, () -> waited(number, 300));
        long longer = shortest(ignored ? NEVER : 3_500, () -> waited(number, 2000));
        System.out.printf(
                "%s: plain Hibernate waits %d, %d, %d ms for 0, 300, 2000 (%d: over %d)%n",
                name, none, brief, longer, NEVER, GIVE_UP);

        assertThat(none).isBetween(0L, 2_000L);
        if (ignored) {
            assertThat(List.of(brief, longer)).containsOnly(NEVER);
        } else {
            assertThat(brief).isBetween(name.equals("postgresql") ? 295L : 950L, briefly);
            assertThat(longer).isBetween(1_950L, 3_500L);
        }
    }
}
