// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.Order;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every Java snippet of docs/aggregates.md, compiled and run. The demonstration's DocumentsTest sees to it that they are the same. */
class AggregateSnippetsTest extends OnJpa {

    static class Lines {
        @Entity
        static class Line {
            @ManyToOne(fetch = FetchType.LAZY)
            @PartOf
            private Order order;

            @Id
            private long id;
        }
    }

    private record Form(VersionToken version, Address address) {}

    @Test
    void the_three_ways() {
        long no = newOrder();
        Form form = new Form(VersionToken.of(0L), new Address("Busan", "2"));
        String from = "account-" + number();
        String to = "account-" + number();
        inTx(em -> {
            em.persist(new Account(from, 10));
            em.persist(new Account(to, 0));
        });
        inTx(entityManager -> {
            AggregateLocks aggregates = AggregateLocks.of(entityManager);

            Order order = aggregates.lock(Order.class, no, Wait.upTo(Duration.ofSeconds(2)));
            Order asShown = aggregates.atVersion(Order.class, no, form.version());
            List<Account> two = aggregates.lockAll(Account.class, List.of(from, to), Wait.upTo(Duration.ofSeconds(2)));
            VersionToken token = aggregates.versionOf(order);

            assertThat(asShown).isSameAs(order);
            assertThat(two).hasSize(2);
            assertThat(token).isEqualTo(form.version());
        });
    }

    @Test
    void with_an_offline_lock() {
        long no = newOrder();
        Form form = new Form(VersionToken.of(0L), new Address("Busan", "2"));
        try (Locks locks = Locks.create(pool)) {
            LockId lockId = locks.manager().tryLock("order", Long.toString(no), "kim");
            inTx(entityManager -> {
                AggregateLocks aggregates = AggregateLocks.of(entityManager);
                Order order = entityManager.find(Order.class, no);
                aggregates.checkLock(locks.manager(), lockId);
                order.moveTo(form.address());
                aggregates.releaseLock(locks.manager(), lockId);
            });
            assertThat(locks.manager().tryLock("order", Long.toString(no), "lee"))
                    .isNotNull();
        }
    }
}
