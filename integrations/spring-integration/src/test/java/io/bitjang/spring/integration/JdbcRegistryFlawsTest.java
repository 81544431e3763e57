// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** What breaks Spring Integration's registry on JDBC, and how a holder is told. */
class JdbcRegistryFlawsTest extends OnRegistry {

    @Test
    void tryLock_of_100_ms_ends_in_time_while_the_database_fails() throws Exception {
        Lock lock = registry.obtain(key);
        source.fails();

        assertEndsAfter(
                100,
                () -> assertThatExceptionOfType(LockingFailException.class)
                        .isThrownBy(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)));
        assertThat(source.refused()).isLessThan(100);
        assertThat(registry.held()).isZero();
    }

    @Test
    void tryLock_of_100_ms_ends_in_time_while_statements_fail() throws Exception {
        Lock lock = registry.obtain(key);
        source.statementsFail();

        assertEndsAfter(
                100,
                () -> assertThatExceptionOfType(LockingFailException.class)
                        .isThrownBy(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)));
        assertThat(source.refused()).isLessThan(100);
    }

    @Test
    void tryLock_of_100_ms_ends_in_time_while_the_database_hangs() throws Exception {
        Lock lock = registry.obtain(key);
        source.hangs();

        assertEndsAfter(
                100,
                () -> assertThatExceptionOfType(LockingFailException.class)
                        .isThrownBy(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)));
    }

    @Test
    void tryLock_with_a_ttl_ends_in_time_while_the_database_fails() throws Exception {
        source.fails();

        assertEndsAfter(
                100,
                () -> assertThatExceptionOfType(LockingFailException.class)
                        .isThrownBy(() -> registry.obtain(key).tryLock(Duration.ofMillis(100), Duration.ofSeconds(5))));
    }

    @Test
    void tryLock_ends_in_time_while_another_has_the_lock() throws Exception {
        otherNode.obtain(key).lock();

        // long enough for the answer that another has it; without one it is an exception
        assertEndsAfter(
                3_000,
                () -> assertThat(registry.obtain(key).tryLock(3, TimeUnit.SECONDS))
                        .isFalse());
    }

    @Test
    void failure_of_the_database_is_an_exception_and_not_a_lock_that_another_has() {
        source.fails();

        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> registry.obtain(key).tryLock());
    }

    @Test
    void lock_gets_the_lock_in_spite_of_an_interrupt_and_keeps_the_interrupt() throws Exception {
        otherNode.obtain(key).lock();
        CountDownLatch begun = new CountDownLatch(1);
        Thread[] waiter = new Thread[1];
        Future<Boolean> waiting = threads.submit(() -> {
            waiter[0] = Thread.currentThread();
            begun.countDown();
            registry.obtain(key).lock();
            boolean kept = Thread.currentThread().isInterrupted();
            registry.obtain(key).unlock();
            return kept && Thread.interrupted();
        });
        begun.await();
        until(() -> waiter[0].getState() != Thread.State.RUNNABLE);

        waiter[0].interrupt();
        otherNode.obtain(key).unlock();

        assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void interrupt_ends_a_wait_that_can_be_interrupted() throws Exception {
        otherNode.obtain(key).lock();
        for (Waiting way : new Waiting[] {
            lock -> lock.lockInterruptibly(),
            lock -> lock.tryLock(20, TimeUnit.SECONDS),
            lock -> registry.executeLocked(key, () -> {})
        }) {
            CountDownLatch begun = new CountDownLatch(1);
            Thread[] waiter = new Thread[1];
            Future<?> waiting = threads.submit(() -> {
                waiter[0] = Thread.currentThread();
                begun.countDown();
                way.on(registry.obtain(key));
                return null;
            });
            begun.await();
            until(() -> waiter[0].getState() != Thread.State.RUNNABLE);

            waiter[0].interrupt();

            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
        }
        assertThat(registry.held()).isZero();
    }

    private interface Waiting {
        void on(Lock lock) throws Exception;
    }

    @Test
    void unlock_of_an_interrupted_thread_frees_the_lock_at_once_and_keeps_the_interrupt() throws Exception {
        elsewhere(() -> {
            registry.obtain(key).lock();
            Thread.currentThread().interrupt();
            registry.obtain(key).unlock();
            assertThat(Thread.interrupted()).isTrue();
            return null;
        });

        assertThat(row().held()).isFalse();
    }

    @Test
    void inner_lock_does_not_win_back_what_the_outer_one_has_lost() throws Exception {
        Lock lock = registry.obtain(key);
        lock.lock();
        takeAway();
        assertThatThrownBy(() -> registry.renewLock(key)).isInstanceOf(IllegalStateException.class);

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(lock::lock)
                .withMessageContaining("it was taken away by operator");
        assertThatExceptionOfType(NoLockException.class).isThrownBy(lock::tryLock);
        assertThatExceptionOfType(NoLockException.class).isThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS));

        assertThat(row().held()).isFalse();
        assertThat(isFree(otherNode.obtain(key))).isTrue();
    }

    @Test
    void unlock_after_a_loss_says_so_and_does_not_free_the_next_holders_lock() throws Exception {
        Lock lock = registry.obtain(key);
        lock.lock();
        takeAway();
        Lock next = otherNode.obtain(key);
        CountDownLatch done = new CountDownLatch(1);
        CountDownLatch taken = new CountDownLatch(1);
        Future<?> holder = threads.submit(() -> {
            next.lock();
            taken.countDown();
            done.await();
            next.unlock();
            return null;
        });
        taken.await();

        assertThatExceptionOfType(ConcurrentModificationException.class)
                .isThrownBy(lock::unlock)
                .withMessageContaining("was lost before unlock");

        assertThat(row().held()).isTrue();
        assertThat(registry.held()).isZero();
        done.countDown();
        holder.get(20, TimeUnit.SECONDS);
        lock.lock();
        lock.unlock();
    }

    @Test
    void thread_that_has_lost_its_lock_is_not_taken_for_the_next_one_in_the_same_registry() throws Exception {
        Lock lock = registry.obtain(key);
        lock.lock();
        takeAway();
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        Future<?> next = threads.submit(() -> {
            registry.obtain(key).lock();
            taken.countDown();
            done.await();
            registry.obtain(key).unlock();
            return null;
        });
        assertThat(taken.await(20, TimeUnit.SECONDS)).isTrue();

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);

        assertThat(row().held()).isTrue();
        done.countDown();
        next.get(20, TimeUnit.SECONDS);
        assertThat(row().held()).isFalse();
    }
}
