// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** A lease as a {@link Lock} of the JDK. */
public abstract class LockViewContract extends OnObservedLocks {

    private Lock lock() {
        return node.lease(name("job")).asLock();
    }

    private boolean isFree() {
        var lease = other.lease(name("job")).tryAcquire();
        lease.ifPresent(Lease::close);
        return lease.isPresent();
    }

    private void takeAway() {
        LockData held = node.admin().find(lockName("job")).orElseThrow();
        assertThat(node.admin().forceRelease(held.name(), held.fence(), "operator", "it hangs"))
                .isTrue();
    }

    @Test
    void a_lock_is_held_until_it_is_unlocked() {
        Lock lock = lock();
        lock.lock();
        assertThat(isFree()).isFalse();
        lock.unlock();
        assertThat(isFree()).isTrue();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
    }

    @Test
    void a_thread_that_has_it_may_take_it_again_in_every_way() throws Exception {
        Lock lock = lock();
        lock.lock();
        seen.reset();
        lock.lock();
        lock.lockInterruptibly();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        assertThat(seen.statements()).as("an inner lock asks nobody").isEmpty();

        for (int i = 0; i < 4; i++) {
            lock.unlock();
            assertThat(isFree()).isFalse();
        }
        lock.unlock();
        assertThat(isFree()).isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void another_thread_can_neither_take_nor_unlock_it() throws Exception {
        Lock lock = lock();
        lock.lock();
        var stranger = crew.start(() -> {
            assertThat(lock.tryLock()).isFalse();
            assertThat(lock.tryLock(100, TimeUnit.MILLISECONDS)).isFalse();
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            return true;
        });

        assertThat(stranger.result()).isTrue();
        assertThat(isFree()).isFalse();
        lock.unlock();
    }

    @Test
    void a_waiting_thread_gets_it_after_the_unlock() throws Exception {
        Lock lock = lock();
        lock.lock();
        var timed = crew.start(() -> {
            boolean got = lock.tryLock(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            lock.unlock();
            return got;
        });
        timed.untilItWaits();
        var untimed = crew.start(() -> {
            lock.lock();
            lock.unlock();
            return true;
        });
        untimed.untilItWaits();
        lock.unlock();

        assertThat(timed.result()).isTrue();
        assertThat(untimed.result()).isTrue();
        assertThat(isFree()).isTrue();
    }

    @Test
    void a_timed_wait_without_time_is_one_attempt() throws Exception {
        Lock lock = lock();
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
        var stranger = crew.start(() -> lock.tryLock(-5, TimeUnit.SECONDS));
        assertThat(stranger.result()).isFalse();
        lock.unlock();
    }

    @Test
    void an_interrupt_ends_an_interruptible_wait() throws Exception {
        other.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> {
            assertThatThrownBy(() -> lock().lockInterruptibly()).isInstanceOf(InterruptedException.class);
            return Thread.currentThread().isInterrupted();
        });
        waiter.untilItWaits().interrupt();
        assertThat(waiter.result()).as("cleared, as the JDK's locks do").isFalse();

        var timed = crew.start(() -> {
            assertThatThrownBy(() -> lock().tryLock(1, TimeUnit.HOURS)).isInstanceOf(InterruptedException.class);
            return Thread.currentThread().isInterrupted();
        });
        timed.untilItWaits().interrupt();
        assertThat(timed.result()).isFalse();
    }

    @Test
    void an_interrupt_before_an_interruptible_lock_is_heard_even_if_it_is_free() throws Exception {
        var waiter = crew.start(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> lock().lockInterruptibly()).isInstanceOf(InterruptedException.class);
            return true;
        });
        assertThat(waiter.result()).isTrue();
        assertThat(isFree()).isTrue();
    }

    @Test
    void an_interrupt_does_not_end_an_uninterruptible_wait_but_is_kept() throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> {
            Lock lock = lock();
            lock.lock();
            boolean kept = Thread.interrupted();
            lock.unlock();
            return kept;
        });
        waiter.untilItWaits().interrupt();
        waiter.untilItWaits();
        held.close();

        assertThat(waiter.result()).isTrue();
        assertThat(isFree()).isTrue();
    }

    @Test
    void unlocking_what_was_lost_says_so() {
        Lock lock = lock();
        lock.lock();
        takeAway();

        assertThatThrownBy(lock::unlock)
                .isInstanceOf(ConcurrentModificationException.class)
                .hasMessageContaining("it hangs");
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatCode(lock::lock).doesNotThrowAnyException();
        lock.unlock();
    }

    @Test
    void a_loss_that_only_shows_at_the_unlock_is_told_there() {
        Lock lock = lock();
        lock.lock();
        LockData held = other.admin().find(lockName("job")).orElseThrow();
        other.admin().forceRelease(held.name(), held.fence(), "operator", "it hangs");

        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
    }

    @Test
    void an_inner_lock_does_not_win_back_what_the_outer_one_lost() {
        Lock lock = lock();
        lock.lock();
        takeAway();

        assertThatThrownBy(lock::lock).isInstanceOf(NoLockException.class).hasMessageContaining("it hangs");
        assertThatThrownBy(lock::tryLock).isInstanceOf(NoLockException.class);
        assertThat(isFree()).isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
    }

    @Test
    void two_views_are_two_locks() throws Exception {
        Lock one = lock();
        Lock two = lock();
        one.lock();
        assertThat(two.tryLock()).isFalse();
        assertThatThrownBy(two::unlock).isInstanceOf(IllegalMonitorStateException.class);
        one.unlock();
    }

    @Test
    void there_are_no_conditions() {
        assertThatThrownBy(() -> lock().newCondition()).isInstanceOf(UnsupportedOperationException.class);
    }
}
