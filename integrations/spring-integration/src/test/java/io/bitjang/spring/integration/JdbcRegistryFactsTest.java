// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;

/** What docs/from-spring-integration.md says about the old registry: when one of these fails, the page is to be changed. */
class JdbcRegistryFactsTest extends OnRegistry {

    private OldRegistry old;
    private JdbcLockRegistry node;

    @BeforeEach
    void node() {
        old = new OldRegistry(database, source.dataSource());
        node = old.node();
    }

    @AfterEach
    void dropTable() throws InterruptedException {
        source.works();
        threads.shutdown();
        assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        old.close();
    }

    @Test
    void tryLock_of_100_ms_does_not_return_while_statements_fail_and_tries_again_without_a_pause() throws Exception {
        Lock lock = node.obtain(key);
        source.statementsFail();
        Future<Boolean> trying = threads.submit(() -> lock.tryLock(100, TimeUnit.MILLISECONDS));

        assertThatThrownBy(() -> trying.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);

        // a pause of 100 ms between the attempts would not let it get there in time
        until(() -> source.refused() > 300);
        source.works();
        assertThat(trying.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void lock_loses_an_interrupt() throws Exception {
        Lock held = old.node().obtain(key);
        held.lock();
        CountDownLatch begun = new CountDownLatch(1);
        Thread[] waiter = new Thread[1];
        Future<Boolean> waiting = threads.submit(() -> {
            waiter[0] = Thread.currentThread();
            begun.countDown();
            node.obtain(key).lock();
            return Thread.currentThread().isInterrupted();
        });
        begun.await();
        until(() -> waiter[0].getState() == Thread.State.TIMED_WAITING);

        waiter[0].interrupt();
        until(() -> !waiter[0].isInterrupted());
        held.unlock();

        assertThat(waiting.get(20, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void inner_lock_wins_back_silently_what_was_lost() {
        Lock lock = node.obtain(key);
        lock.lock();
        old.takeAllAway();

        lock.lock();

        lock.unlock();
        lock.unlock();
    }

    @Test
    void two_keys_may_block_each_other() throws Exception {
        for (int i = 0; i < 256; i++) {
            node.obtain(key + i).lock();
        }

        boolean blocked = false;
        for (int i = 256; i < 276; i++) {
            blocked |= !isFree(node.obtain(key + i));
        }

        assertThat(blocked).isTrue();
    }
}
