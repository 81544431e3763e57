// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.peers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.contract.OnAccounts;
import java.sql.SQLRecoverableException;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Each was seen by running another library; each is named for what Bitjang does instead. */
public abstract class PeerFlaws extends OnAccounts {

    @Test
    void expired_holder_neither_releases_nor_extends_the_lock_of_the_next_even_under_the_same_owner() throws Exception {
        LockId expired = locks.manager().tryLock(account.type(), account.id(), "host", Duration.ofMillis(50));
        awaitLapse(account);
        LockId next = other.manager().tryLock(account.type(), account.id(), "host", Duration.ofMinutes(5));
        LockData before = other.manager().checkLock(next);

        assertThatThrownBy(() -> locks.manager().releaseLock(expired)).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> locks.manager().extendLockExpiration(expired, Duration.ofDays(1)))
                .isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> locks.manager().renew(expired, Duration.ofDays(1)))
                .isInstanceOf(NoLockException.class);

        assertThat(other.manager().checkLock(next).expiresAt()).isEqualTo(before.expiresAt());
    }

    @Test
    void expired_lease_that_is_closed_leaves_the_lease_of_the_next_alone() throws Exception {
        Duration brief = Duration.ofMillis(100);
        Lease expired =
                locks.lease(account).owner("host").lasting(brief).maxHold(brief).acquire(Wait.none());
        awaitLapse(account);
        Lease next = other.lease(account).owner("host").acquire(Wait.upTo(PATIENCE));

        assertThatThrownBy(expired::renew).isInstanceOf(NoLockException.class);
        assertThatCode(expired::close).as("it was told").doesNotThrowAnyException();

        next.renew();
        assertThat(other.admin().find(account)).hasValueSatisfying(now -> {
            assertThat(now.held()).isTrue();
            assertThat(now.fence()).isEqualTo(next.fence());
        });
    }

    @Test
    void renewal_goes_on_after_exceptions() throws Exception {
        AtomicInteger failures = new AtomicInteger();
        CountDownLatch renewed = new CountDownLatch(1);
        CountingDataSource source = new CountingDataSource(pool);
        Locks node = closing(Locks.builder(source)
                .listener(event -> {
                    if (event.kind() == LockEvent.Kind.RENEWED && failures.get() > 2) {
                        renewed.countDown();
                    }
                })
                .build());
        Lease lease = node.lease(account).lasting(Duration.ofSeconds(12)).acquire(Wait.none());
        source.onStatement(sql -> {
            if (failures.incrementAndGet() <= 2) {
                throw new SQLRecoverableException("cut off", "08006");
            }
        });

        assertThat(renewed.await(PATIENCE.toSeconds(), SECONDS)).isTrue();

        assertThat(failures).hasValueGreaterThan(2);
        assertThat(lease.isHeld()).isTrue();
        assertThat(other.lease(account).tryAcquire()).isEmpty();
    }

    @Test
    void wait_ends_in_time_while_the_database_fails_and_has_not_hammered_it() {
        AtomicInteger attempts = new AtomicInteger();
        CountingDataSource source = new CountingDataSource(pool);
        Locks cutOff = closing(Locks.create(source));
        source.onStatement(sql -> {
            attempts.incrementAndGet();
            throw new SQLRecoverableException("cut off", "08006");
        });
        // not before a busy machine has tried once
        Duration limit = Duration.ofSeconds(3);
        long begin = System.nanoTime();

        assertThatThrownBy(() -> cutOff.lease(account).acquire(Wait.upTo(limit)))
                .isInstanceOf(LockingFailException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - begin))
                .isBetween(limit.minusMillis(10), Duration.ofSeconds(15));
        assertThat(attempts).hasValueBetween(1, 200);
    }

    @Test
    void interrupt_ends_a_wait_and_stays_set() throws Exception {
        locks.lease(account).acquire(Wait.none());
        CountDownLatch starts = new CountDownLatch(1);
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            starts.countDown();
            try {
                other.lease(account).acquire(Wait.forever()).close();
                flag.completeExceptionally(new AssertionError("It was granted"));
            } catch (LockException e) {
                flag.complete(Thread.currentThread().isInterrupted());
            }
        });
        waiter.start();
        starts.await();

        waiter.interrupt();

        assertThat(flag.get(PATIENCE.toSeconds(), SECONDS)).isTrue();
        waiter.join();
    }

    @Test
    void lock_of_the_java_interface_waits_through_an_interrupt_and_does_not_swallow_it() throws Exception {
        Lease held = locks.lease(account).acquire(Wait.none());
        Lock lock = other.lease(account).asLock();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            Thread.currentThread().interrupt();
            lock.lock();
            flag.complete(Thread.currentThread().isInterrupted());
            lock.unlock();
        });
        waiter.start();
        await(
                "the thread to wait",
                () -> waiter.getState() == Thread.State.TIMED_WAITING || waiter.getState() == Thread.State.WAITING);
        assertThat(flag).isNotDone();

        held.close();

        assertThat(flag.get(PATIENCE.toSeconds(), SECONDS)).isTrue();
        waiter.join();
    }

    @Test
    void inner_lock_does_not_win_back_what_the_outer_one_has_lost() throws Exception {
        LockName name = lockName("reentrant");
        CountDownLatch lost = new CountDownLatch(1);
        Locks node = closing(builder()
                .listener(event -> {
                    if (event.kind() == LockEvent.Kind.LOST) {
                        lost.countDown();
                    }
                })
                .build());
        Lock lock = node.lease(name).lasting(Duration.ofSeconds(9)).asLock();
        lock.lock();
        lock.lock();
        lock.unlock();
        long fence = other.admin().find(name).orElseThrow().fence();
        assertThat(other.admin().forceRelease(name, fence, "ops", "in the way")).isTrue();
        assertThat(lost.await(PATIENCE.toSeconds(), SECONDS)).isTrue();

        assertThatThrownBy(lock::lock).isInstanceOf(NoLockException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(NoLockException.class);

        assertThat(other.admin().find(name))
                .hasValueSatisfying(now -> assertThat(now.held()).isFalse());
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
    }
}
