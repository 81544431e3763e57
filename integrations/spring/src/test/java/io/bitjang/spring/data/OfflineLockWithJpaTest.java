// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.jpa.VersionToken;
import io.bitjang.spring.TransactionalLockManager;
import io.bitjang.spring.data.shop.Order;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.orm.ObjectOptimisticLockingFailureException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** An edit under an offline lock, with JPA: the check, the change and the release are one commit. */
class OfflineLockWithJpaTest extends OnSpringData {

    private Locks locks;
    private TransactionalLockManager manager;

    @BeforeEach
    void open() {
        locks = Locks.create(TestDatabases.byName(name).dataSource());
        manager = new TransactionalLockManager(locks.manager(), pool);
    }

    @AfterEach
    void close() {
        locks.close();
    }

    private LockId edit(long number, String who) {
        return manager.tryLock("order", Long.toString(number), who, Duration.ofMinutes(1));
    }

    private boolean takeAway(long number, LockId lockId) {
        return locks.admin()
                .forceRelease(LockName.of("order", Long.toString(number)), lockId.fence(), "lee", "she left");
    }

    @Test
    void the_lock_is_free_when_the_edit_commits() {
        long number = newOrder();
        VersionToken shown = shop.show(number);
        LockId lockId = edit(number, "kim");

        inTx(() -> {
            manager.checkLock(lockId);
            orders.atVersion(number, shown).moveTo("Busan");
            manager.releaseLock(lockId);
            assertThatThrownBy(() -> edit(number, "lee")).isInstanceOf(AlreadyLockedException.class);
        });

        assertThat(edit(number, "lee")).isNotNull();
        assertThat(city(number)).isEqualTo("Busan");
    }

    @Test
    void an_edit_that_is_rolled_back_keeps_the_lock() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");

        assertThatThrownBy(() -> inTx(() -> {
                    manager.checkLock(lockId);
                    orders.findById(number).orElseThrow().moveTo("Busan");
                    orders.flush();
                    manager.releaseLock(lockId);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");

        assertThat(manager.checkLock(lockId).owner()).isEqualTo("kim");
        assertThat(city(number)).isEqualTo("Seoul");
    }

    /** The conflict shows when the entity manager writes, after the release. */
    @Test
    void an_edit_that_fails_at_the_commit_keeps_the_lock() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");

        assertThatThrownBy(() -> inTx(() -> {
                    Order order = orders.findById(number).orElseThrow();
                    elsewhere(() -> shop.save(number, shop.show(number), "Jeju"));
                    manager.checkLock(lockId);
                    order.moveTo("Busan");
                    manager.releaseLock(lockId);
                }))
                .isInstanceOf(ObjectOptimisticLockingFailureException.class);

        assertThat(manager.checkLock(lockId).owner()).isEqualTo("kim");
        assertThat(city(number)).isEqualTo("Jeju");
    }

    @Test
    void who_caught_the_refusal_of_the_guard_can_not_commit_all_the_same() {
        long before = newOrder();
        long after = newOrder();
        LockId lockId = edit(before, "kim");
        assertThat(takeAway(before, lockId)).isTrue();

        assertThat(catchThrowable(() -> inTx(() -> {
                    orders.findById(before).orElseThrow().moveTo("Busan");
                    orders.flush();
                    assertThatThrownBy(() -> manager.checkLock(lockId)).isInstanceOf(NoLockException.class);
                    orders.findById(after).orElseThrow().moveTo("Busan");
                    orders.flush();
                })))
                .isInstanceOfAny(UnexpectedRollbackException.class, LockException.class);

        assertThat(city(before)).isEqualTo("Seoul");
        assertThat(city(after)).isEqualTo("Seoul");
    }

    /** As a listener of an event does that is called before the commit. */
    @Test
    void nor_can_who_caught_it_just_before_the_commit() {
        long number = newOrder();
        LockId lockId = edit(number, "kim");
        assertThat(takeAway(number, lockId)).isTrue();

        assertThat(catchThrowable(() -> inTx(() -> {
                    orders.findById(number).orElseThrow().moveTo("Busan");
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            assertThatThrownBy(() -> manager.checkLock(lockId)).isInstanceOf(NoLockException.class);
                        }
                    });
                })))
                .isInstanceOfAny(UnexpectedRollbackException.class, LockException.class);

        assertThat(city(number)).isEqualTo("Seoul");
    }

    @Test
    void nobody_takes_it_over_between_the_check_and_the_commit() throws Exception {
        long number = newOrder();
        LockId lockId = edit(number, "kim");
        Future<Boolean> taken = tx(() -> {
            manager.checkLock(lockId);
            Future<Boolean> impatient = threads.submit(() -> takeAway(number, lockId));
            assertThatThrownBy(() -> impatient.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            orders.findById(number).orElseThrow().moveTo("Busan");
            return impatient;
        });
        taken.get(20, TimeUnit.SECONDS);
        assertThat(city(number)).isEqualTo("Busan");
    }

    @Test
    void a_repository_that_fails_keeps_the_lock() throws Exception {
        long number = newOrder();
        LockId lockId = edit(number, "kim");
        try (AutoCloseable held = holding(number)) {
            assertThatThrownBy(() -> inTx(() -> {
                        manager.checkLock(lockId);
                        manager.releaseLock(lockId);
                        orders.lock(number, Wait.none()).moveTo("Busan");
                    }))
                    .isInstanceOf(CannotAcquireLockException.class);
        }
        assertThat(manager.checkLock(lockId).owner()).isEqualTo("kim");
    }
}
