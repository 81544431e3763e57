// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Locks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.OnFailedToAcquireMutexEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** A cluster moves from Spring Integration's registry on JDBC to Bitjang's while its work goes on. */
class RollOverTest extends OnRegistry {

    private static final int ROUNDS = Boolean.getBoolean("bitjang.soak") ? 500 : 8;

    /** Long enough for a busy machine's answer that another has the lock. */
    private static final Duration WORTH_A_WAIT = Duration.ofSeconds(3);

    private OldRegistry old;
    private LockRegistry<?> oldNode;
    private BitjangLockRegistry transitional;
    private BitjangLockRegistry newNode;

    @BeforeEach
    void nodes() {
        old = new OldRegistry(database, pool);
        oldNode = old.node();
        transitional = transitional(locks);
        newNode = otherNode;
    }

    @AfterEach
    void dropTable() {
        threads.shutdownNow();
        old.close();
    }

    private BitjangLockRegistry transitional(Locks nodesLocks) {
        return new BitjangLockRegistry(nodesLocks).alongside(old.node());
    }

    @Test
    void work_never_overlaps_while_old_and_transitional_nodes_run() throws Exception {
        assertNeverTwoAtOnce(oldNode, transitional, old.node(), transitional(otherLocks));
    }

    @Test
    void work_never_overlaps_while_transitional_and_new_nodes_run() throws Exception {
        assertNeverTwoAtOnce(transitional, newNode, transitional(otherLocks), registry);
    }

    @Test
    void old_and_new_nodes_alone_do_not_exclude_each_other() throws Exception {
        oldNode.obtain(key).lock();

        assertThat(isFree(newNode.obtain(key)))
                .as("this is why the transitional step is needed")
                .isTrue();
    }

    @Test
    void transitional_node_excludes_both_and_is_excluded_by_both() throws Exception {
        for (Taking way : ways()) {
            assertThat(way.take(transitional.obtain(key))).isTrue();
            assertThat(isFree(oldNode.obtain(key))).isFalse();
            assertThat(isFree(newNode.obtain(key))).isFalse();
            transitional.obtain(key).unlock();
            assertThat(isFree(oldNode.obtain(key))).isTrue();
            assertThat(isFree(newNode.obtain(key))).isTrue();
        }

        oldNode.obtain(key).lock();
        for (Taking way : tries(WORTH_A_WAIT)) {
            assertThat(elsewhere(() -> way.take(transitional.obtain(key)))).isFalse();
            assertThat(isFree(newNode.obtain(key))).as("given back").isTrue();
        }
        oldNode.obtain(key).unlock();

        newNode.obtain(key).lock();
        for (Taking way : tries(WORTH_A_WAIT)) {
            assertThat(elsewhere(() -> way.take(transitional.obtain(key)))).isFalse();
            assertThat(isFree(oldNode.obtain(key))).as("never taken").isTrue();
        }
        newNode.obtain(key).unlock();
    }

    private interface Taking {
        boolean take(DistributedLock lock) throws InterruptedException;
    }

    private static List<Taking> tries(Duration wait) {
        return List.of(
                Lock::tryLock,
                lock -> lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS),
                lock -> lock.tryLock(wait, Duration.ofSeconds(20)));
    }

    private static List<Taking> ways() {
        List<Taking> all = new ArrayList<>(tries(Duration.ofSeconds(20)));
        all.add(lock -> {
            lock.lock();
            return true;
        });
        all.add(lock -> {
            lock.lockInterruptibly();
            return true;
        });
        all.add(lock -> {
            lock.lock(Duration.ofSeconds(20));
            return true;
        });
        return all;
    }

    @Test
    void lock_of_a_transitional_node_is_re_entrant_and_can_be_renewed() throws Exception {
        transitional.obtain(key).lock();
        transitional.obtain(key).lock();
        transitional.renewLock(key);
        transitional.renewLock(key, Duration.ofSeconds(10));
        transitional.expireUnusedOlderThan(1);
        transitional.obtain(key).unlock();
        assertThat(isFree(oldNode.obtain(key))).isFalse();
        assertThat(isFree(newNode.obtain(key))).isFalse();

        transitional.obtain(key).unlock();
        assertThat(isFree(oldNode.obtain(key))).isTrue();
        assertThat(isFree(newNode.obtain(key))).isTrue();
    }

    @Test
    void old_registry_without_a_ttl_works_too() throws Exception {
        LockRegistry<?> plain = new DefaultLockRegistry();
        BitjangLockRegistry both = registry.alongside(plain);
        for (Taking way : ways()) {
            assertThat(way.take(both.obtain(key))).isTrue();
            assertThat(isFree(plain.obtain(key))).isFalse();
            assertThat(isFree(newNode.obtain(key))).isFalse();
            both.renewLock(key);
            both.obtain(key).unlock();
            assertThat(isFree(plain.obtain(key))).isTrue();
        }
    }

    @Test
    void interrupt_while_the_old_lock_is_waited_for_gives_bitjangs_back() throws Exception {
        oldNode.obtain(key).lock();
        CountDownLatch begun = new CountDownLatch(1);
        Thread[] waiter = new Thread[1];
        Future<?> waiting = threads.submit(() -> {
            waiter[0] = Thread.currentThread();
            begun.countDown();
            transitional.obtain(key).lockInterruptibly();
            return null;
        });
        begun.await();
        until(() -> transitional.held() == 1);

        waiter[0].interrupt();

        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
        assertThat(isFree(newNode.obtain(key))).isTrue();
    }

    @Test
    void loss_of_bitjangs_lock_is_told_at_unlock_and_the_old_one_is_freed() throws Exception {
        transitional.obtain(key).lock();
        takeAway();

        assertThatThrownBy(() -> transitional.obtain(key).unlock()).isInstanceOf(ConcurrentModificationException.class);

        assertThat(isFree(oldNode.obtain(key))).isTrue();
    }

    @Test
    void transitional_candidate_leads_when_the_old_leader_stops() throws Exception {
        CountDownLatch oldLeads = new CountDownLatch(1);
        CountDownLatch transitionalTries = new CountDownLatch(2);
        CountDownLatch transitionalLeads = new CountDownLatch(1);
        // a leader that is stopped is interrupted, and may then fail to unlock the old lock, which ends by itself
        LockRegistry<?> ending = old.node(Duration.ofSeconds(10));
        LockRegistryLeaderInitiator first = candidate(ending, oldLeads, new CountDownLatch(0));
        LockRegistryLeaderInitiator second = candidate(transitional, transitionalLeads, transitionalTries);
        try {
            first.start();
            assertThat(oldLeads.await(20, TimeUnit.SECONDS)).isTrue();
            second.start();
            assertThat(transitionalTries.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(second.getContext().isLeader()).isFalse();

            first.stop();

            assertThat(transitionalLeads.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(isFree(newNode.obtain(key))).isFalse();
        } finally {
            first.stop();
            second.stop();
        }
    }

    private LockRegistryLeaderInitiator candidate(LockRegistry<?> node, CountDownLatch leads, CountDownLatch failed) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(
                node, new DefaultCandidate(UUID.randomUUID().toString(), key));
        initiator.setHeartBeatMillis(200);
        initiator.setPublishFailedEvents(true);
        initiator.setLeaderEventPublisher(new DefaultLeaderEventPublisher(event -> {
            if (event instanceof OnGrantedEvent) {
                leads.countDown();
            } else if (event instanceof OnFailedToAcquireMutexEvent) {
                failed.countDown();
            }
        }));
        return initiator;
    }

    /** Every node works so often; whoever comes while another is at work, or whose count is overwritten, spoils it. */
    private void assertNeverTwoAtOnce(LockRegistry<?>... nodes) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        int[] counter = new int[1];
        CyclicBarrier together = new CyclicBarrier(nodes.length);
        List<Future<?>> running = new ArrayList<>();
        for (LockRegistry<?> node : nodes) {
            running.add(threads.submit(() -> {
                together.await();
                for (int round = 0; round < ROUNDS; round++) {
                    node.executeLocked(key, () -> {
                        overlaps.addAndGet(inside.getAndIncrement());
                        int seen = counter[0];
                        Thread.yield();
                        counter[0] = seen + 1;
                        inside.getAndDecrement();
                    });
                }
                return null;
            }));
        }
        for (Future<?> node : running) {
            node.get(60 + ROUNDS, TimeUnit.SECONDS);
        }
        assertThat(overlaps).hasValue(0);
        assertThat(counter[0]).isEqualTo(nodes.length * ROUNDS);
    }
}
