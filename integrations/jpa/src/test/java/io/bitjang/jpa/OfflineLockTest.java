// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.Order;
import jakarta.persistence.EntityManager;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An edit under an offline lock: check, change, version and release are one commit. */
class OfflineLockTest extends OnJpa {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private Locks locks;
    private LockManager manager;

    @BeforeEach
    void open() {
        locks = Locks.create(pool);
        manager = locks.manager();
    }

    @AfterEach
    void close() {
        locks.close();
    }

    private String city(long number) {
        return tx(em -> em.find(Order.class, number).address().city());
    }

    private LockId edit(long number, String who) {
        return manager.tryLock("order", Long.toString(number), who, MINUTE);
    }

    @Test
    void the_lock_is_free_when_the_edit_commits() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");

        inTx(em -> {
            AggregateLocks aggregates = AggregateLocks.of(em);
            aggregates.checkLock(manager, lockId);
            aggregates.atVersion(Order.class, number, 0L).moveTo(new Address("Busan", "2"));
            aggregates.releaseLock(manager, lockId);
            assertThatThrownBy(() -> edit(number, "lee")).isInstanceOf(AlreadyLockedException.class);
        });

        assertThat(edit(number, "lee")).isNotNull();
        assertThat(city(number)).isEqualTo("Busan");
    }

    @Test
    void an_edit_that_is_rolled_back_keeps_the_lock() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");

        assertThatThrownBy(() -> inTx(em -> {
                    AggregateLocks aggregates = AggregateLocks.of(em);
                    aggregates.checkLock(manager, lockId);
                    em.find(Order.class, number).moveTo(new Address("Busan", "2"));
                    aggregates.releaseLock(manager, lockId);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");

        assertThat(manager.checkLock(lockId).owner()).isEqualTo("kim");
        assertThat(city(number)).isEqualTo("Seoul");
    }

    @Test
    void an_edit_without_the_lock_changes_nothing() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");
        assertThat(locks.admin()
                        .forceRelease(LockName.of("order", Long.toString(number)), lockId.fence(), "lee", "she left"))
                .isTrue();

        assertThatThrownBy(() -> inTx(em -> {
                    em.find(Order.class, number).moveTo(new Address("Busan", "2"));
                    em.flush();
                    AggregateLocks.of(em).checkLock(manager, lockId);
                }))
                .isInstanceOf(NoLockException.class);

        assertThat(city(number)).isEqualTo("Seoul");
    }

    @Test
    void who_caught_the_refusal_can_not_commit_all_the_same() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");
        manager.releaseLock(lockId);
        EntityManager em = factory.createEntityManager();
        em.getTransaction().begin();
        em.find(Order.class, number).moveTo(new Address("Busan", "2"));
        em.flush();

        assertThatThrownBy(() -> AggregateLocks.of(em).checkLock(manager, lockId))
                .isInstanceOf(NoLockException.class);

        assertThat(em.getTransaction().getRollbackOnly()).isTrue();
        em.getTransaction().rollback();
        em.close();
        assertThat(city(number)).isEqualTo("Seoul");
    }

    @Test
    void nobody_takes_it_over_between_the_check_and_the_commit() throws Exception {
        long number = newOrder();
        LockId lockId = edit(number, "kim");
        EntityManager em = factory.createEntityManager();
        em.getTransaction().begin();
        AggregateLocks.of(em).checkLock(manager, lockId);

        CompletableFuture<Boolean> taken = CompletableFuture.supplyAsync(() -> locks.admin()
                .forceRelease(LockName.of("order", Long.toString(number)), lockId.fence(), "lee", "impatient"));
        assertThatThrownBy(() -> taken.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        em.find(Order.class, number).moveTo(new Address("Busan", "2"));
        em.getTransaction().commit();
        em.close();

        taken.get(30, TimeUnit.SECONDS);
        assertThat(city(number)).isEqualTo("Busan");
    }
}
