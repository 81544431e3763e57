// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockName;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.springframework.integration.support.locks.DistributedLock;

class BitjangLockRegistryTest extends OnRegistry {

    /** Long enough for a busy machine's answer that another has the lock: without one it is an exception. */
    private static final Duration WORTH_A_WAIT = Duration.ofSeconds(3);

    private static final int ROUNDS = Boolean.getBoolean("bitjang.soak") ? 2_000 : 20;

    @Test
    void lock_excludes_other_threads_and_other_nodes_until_it_is_unlocked() throws Exception {
        Lock lock = registry.obtain(key);
        lock.lock();

        assertThat(isFree(registry.obtain(key))).isFalse();
        assertThat(isFree(otherNode.obtain(key))).isFalse();

        lock.unlock();
        assertThat(isFree(registry.obtain(key))).isTrue();
        assertThat(isFree(otherNode.obtain(key))).isTrue();
    }

    @Test
    void thread_that_has_it_takes_it_again_through_another_object_and_unlocks_as_often() throws Exception {
        registry.obtain(key).lock();
        registry.obtain(key).lockInterruptibly();
        assertThat(registry.obtain(key).tryLock()).isTrue();
        assertThat(registry.obtain(key).tryLock(1, TimeUnit.SECONDS)).isTrue();
        registry.obtain(key).lock(Duration.ofSeconds(5));

        for (int i = 0; i < 4; i++) {
            registry.obtain(key).unlock();
            assertThat(isFree(otherNode.obtain(key))).isFalse();
        }
        registry.obtain(key).unlock();
        assertThat(isFree(otherNode.obtain(key))).isTrue();
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(() -> registry.obtain(key).unlock());
    }

    @Test
    void another_thread_can_not_unlock_it() throws Exception {
        registry.obtain(key).lock();

        assertThatThrownBy(() -> elsewhere(() -> {
                    registry.obtain(key).unlock();
                    return null;
                }))
                .hasCauseInstanceOf(IllegalMonitorStateException.class);

        assertThat(isFree(otherNode.obtain(key))).isFalse();
    }

    @Test
    void wait_gets_the_lock_when_the_other_node_unlocks() throws Exception {
        registry.obtain(key).lock();
        CyclicBarrier begun = new CyclicBarrier(2);
        Future<Boolean> waiting = threads.submit(() -> {
            begun.await();
            return otherNode.obtain(key).tryLock(20, TimeUnit.SECONDS);
        });
        begun.await();

        registry.obtain(key).unlock();

        assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void registry_remembers_only_what_is_held() {
        for (int i = 0; i < 100; i++) {
            Lock lock = registry.obtain(key + i % 10);
            lock.lock();
            lock.lock();
            assertThat(registry.held()).isEqualTo(1);
            lock.unlock();
            lock.unlock();
        }

        assertThat(registry.held()).isZero();
    }

    @Test
    void two_keys_never_block_each_other() throws Exception {
        // 256 locks of the old registry's in the JVM serve all its keys
        for (int i = 0; i < 300; i++) {
            registry.obtain(key + i).lock();
        }

        for (int i = 300; i < 320; i++) {
            assertThat(isFree(registry.obtain(key + i))).isTrue();
        }

        for (int i = 0; i < 300; i++) {
            registry.obtain(key + i).unlock();
        }
    }

    @Test
    void ttl_is_what_the_lock_lasts_unless_it_is_renewed() throws Exception {
        registry.obtain(key).lock(Duration.ofMinutes(3));
        assertThat(row().remaining()).isBetween(Duration.ofSeconds(150), Duration.ofMinutes(3));
        registry.obtain(key).unlock();

        assertThat(registry.obtain(key).tryLock(Duration.ofSeconds(20), Duration.ofMinutes(2)))
                .isTrue();
        assertThat(row().remaining()).isBetween(Duration.ofSeconds(90), Duration.ofMinutes(2));
        assertThat(elsewhere(() -> otherNode.obtain(key).tryLock(WORTH_A_WAIT, Duration.ofMinutes(2))))
                .isFalse();
        registry.obtain(key).unlock();
    }

    @Test
    void lock_is_renewed_in_the_background_beyond_its_ttl() {
        BitjangLockRegistry shortLived = new BitjangLockRegistry(locks, "spring-integration", Duration.ofSeconds(10));
        Lock lock = shortLived.obtain(key);
        lock.lock();
        Instant first = row().expiresAt();

        until(() -> row().held() && row().expiresAt().isAfter(first));

        lock.unlock();
    }

    @Test
    void region_keeps_the_same_key_apart() throws Exception {
        BitjangLockRegistry region = new BitjangLockRegistry(otherLocks, "orders", Duration.ofSeconds(30));
        registry.obtain(key).lock();

        assertThat(isFree(region.obtain(key))).isTrue();
        assertThat(otherLocks.admin().find(LockName.of("orders", key))).isPresent();
    }

    @Test
    void renewal_prolongs_at_once() {
        registry.obtain(key).lock();
        Instant first = row().expiresAt();

        registry.renewLock(key);
        assertThat(row().expiresAt()).isAfter(first);

        Instant second = row().expiresAt();
        registry.renewLock(key, Duration.ofSeconds(30));
        assertThat(row().expiresAt()).isAfter(second);
    }

    @Test
    void renewal_for_more_than_the_lock_was_taken_for_is_refused() {
        registry.obtain(key).lock(Duration.ofSeconds(20));

        assertThatThrownBy(() -> registry.renewLock(key, Duration.ofSeconds(40)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Take it with lock(ttl)");
    }

    @Test
    void renewal_belongs_to_the_thread_that_has_the_lock() throws Exception {
        registry.obtain(key).lock();

        assertThatThrownBy(() -> elsewhere(() -> {
                    registry.renewLock(key);
                    return null;
                }))
                .hasCauseInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void renewal_of_a_lost_lock_says_so() {
        registry.obtain(key).lock();
        takeAway();

        assertThatThrownBy(() -> registry.renewLock(key))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("it was taken away by operator");
    }

    @Test
    void expiring_what_is_unused_leaves_the_rows_of_everyone_and_the_locks_that_are_held() throws Exception {
        registry.obtain(key).lock();
        Lock idle = registry.obtain(key + "idle");
        idle.lock();
        idle.unlock();
        LockName edited = otherLocks.manager().tryLock("order", key, "ann").name();
        long twoHours = TimeUnit.HOURS.toMicros(2);
        database.execute("UPDATE bitjang_locks SET expires_at = expires_at - " + twoHours + " WHERE id IN ('" + key
                + "idle') OR type = 'order' AND id = '" + key + "'");

        source.fails();
        registry.expireUnusedOlderThan(1);
        source.works();

        assertThat(row(key + "idle").held()).isFalse();
        assertThat(otherLocks.admin().find(edited)).isPresent();
        assertThat(isFree(otherNode.obtain(key))).isFalse();
        registry.obtain(key).unlock();
        assertThat(registry.held()).isZero();
    }

    @Test
    void any_text_is_a_key_and_different_texts_are_different_locks() throws Exception {
        List<String> keys = List.of(
                "",
                " ",
                key,
                key.toUpperCase(java.util.Locale.ROOT),
                "가".repeat(300),
                "가".repeat(301),
                "\ud800",
                "\udbff",
                "a\0");
        for (String each : keys) {
            registry.obtain(each).lock();
        }
        for (String each : keys) {
            assertThat(isFree(otherNode.obtain(each))).isFalse();
            registry.obtain(each).unlock();
            assertThat(isFree(otherNode.obtain(each))).isTrue();
        }
    }

    @Test
    void bad_input_is_refused_with_a_message() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.obtain(42))
                .withMessageContaining("must be a String");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new BitjangLockRegistry(locks, "region", Duration.ofSeconds(-1)))
                .withMessageContaining("longer than zero");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new BitjangLockRegistry(locks, " ", Duration.ofSeconds(1)))
                .withMessageContaining("type");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.obtain(key).lock(Duration.ZERO))
                .withMessageContaining("longer than zero");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> registry.obtain(key).newCondition());
    }

    @Test
    void work_is_executed_under_the_lock() throws Exception {
        String result = registry.executeLocked(key, () -> {
            assertThat(isFree(otherNode.obtain(key))).isFalse();
            return "done";
        });
        assertThat(result).isEqualTo("done");

        registry.obtain(key).lock();
        assertThatThrownBy(() -> elsewhere(() -> otherNode.executeLocked(key, WORTH_A_WAIT, () -> "never")))
                .hasCauseInstanceOf(TimeoutException.class);
        registry.obtain(key).unlock();
        assertThat(isFree(otherNode.obtain(key))).isTrue();
    }

    @Test
    void counter_of_two_nodes_is_never_overwritten() throws Exception {
        int[] counter = new int[1];
        AtomicInteger inside = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        List<BitjangLockRegistry> nodes = List.of(registry, otherNode);
        CyclicBarrier together = new CyclicBarrier(6);
        for (int i = 0; i < 6; i++) {
            DistributedLock lock = nodes.get(i % 2).obtain(key);
            running.add(threads.submit(() -> {
                together.await();
                for (int round = 0; round < ROUNDS; round++) {
                    lock.lock();
                    try {
                        assertThat(inside.getAndIncrement()).isZero();
                        int seen = counter[0];
                        Thread.yield();
                        counter[0] = seen + 1;
                        inside.getAndDecrement();
                    } finally {
                        lock.unlock();
                    }
                }
                return null;
            }));
        }
        for (Future<?> each : running) {
            // for the full count; in a build, a test that hangs is ended sooner
            each.get(20, TimeUnit.MINUTES);
        }
        assertThat(counter[0]).isEqualTo(6 * ROUNDS);
        assertThat(registry.held() + otherNode.held()).isZero();
    }
}
