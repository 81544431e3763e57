// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ConcurrentModificationException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A thread that has lost its lock hears of it, whatever other threads do with the lock meanwhile. */
class AsLockTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    private Lock lock;

    @BeforeEach
    void loses() {
        lock = node.lease(JOB).asLock();
        lock.lock();
        long fence = node.admin().find(JOB).orElseThrow().fence();
        assertThat(node.admin().forceRelease(JOB, fence, "ops", "it hangs")).isTrue();
    }

    @Test
    void inner_lock_never_wins_back_what_the_outer_one_has_lost() throws Exception {
        start(() -> {
                    lock.lock();
                    lock.unlock();
                    return true;
                })
                .result();

        assertThatThrownBy(lock::lock).isInstanceOf(NoLockException.class);
    }

    @Test
    void unlock_says_that_the_lock_was_given_back_by_the_closing() {
        Lock mine = node.lease("mine").asLock();
        mine.lock();
        node.close();

        assertThatThrownBy(mine::unlock)
                .isInstanceOf(ConcurrentModificationException.class)
                .hasMessageContaining("given back when its Locks was closed");
    }

    @Test
    void unlock_says_that_the_lock_was_lost_although_another_thread_has_it_now() throws Exception {
        Gate end = gate();
        Job<Boolean> next = start(() -> {
            lock.lock();
            end.pass();
            lock.unlock();
            return true;
        });
        end.untilReached();

        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        end.close();
        assertThat(next.result()).as("the other's is given back").isTrue();
        assertThatThrownBy(lock::unlock).as("once").isInstanceOf(IllegalMonitorStateException.class);
    }
}
