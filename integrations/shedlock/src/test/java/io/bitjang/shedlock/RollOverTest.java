// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** A cluster moves from ShedLock's own JDBC provider to Bitjang's while its jobs go on. */
class RollOverTest extends OnShedLock {

    private static final int ROUNDS = Boolean.getBoolean("bitjang.soak") ? 1_000 : 15;

    private final String table = "shedlock_" + UUID.randomUUID().toString().substring(0, 8);
    private LockProvider oldNode;
    private LockProvider transitional;
    private LockProvider newNode;

    @BeforeEach
    void nodes() {
        database.execute("CREATE TABLE " + table + " (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,"
                + " locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
        oldNode = old();
        transitional = new BitjangLockProvider(locks).alongside(old());
        newNode = new BitjangLockProvider(otherLocks);
        // the row of the old provider, before the nodes race for it: ShedLock's own insert may fail on a deadlock of
        // MySQL
        locked(oldNode, LONG).unlock();
    }

    private LockProvider old() {
        return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withTableName(table)
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
    }

    @AfterEach
    void dropTable() {
        database.execute("DROP TABLE " + table);
    }

    @Test
    void job_never_overlaps_while_old_and_transitional_nodes_run() throws Exception {
        assertNeverTwoAtOnce(oldNode, transitional, old(), new BitjangLockProvider(otherLocks).alongside(old()));
    }

    @Test
    void job_never_overlaps_while_transitional_and_new_nodes_run() throws Exception {
        assertNeverTwoAtOnce(transitional, newNode, transitional, new BitjangLockProvider(locks));
    }

    @Test
    void old_and_new_nodes_alone_do_not_exclude_each_other() {
        locked(oldNode, LONG);

        assertThat(lock(newNode, LONG))
                .as("this is why the transitional step is needed")
                .isPresent();
    }

    @Test
    void transitional_node_excludes_both_and_is_excluded_by_both() {
        SimpleLock lock = locked(transitional, LONG);
        assertThat(lock(oldNode, LONG)).isEmpty();
        assertThat(lock(newNode, LONG)).isEmpty();
        lock.unlock();

        SimpleLock oldLock = locked(oldNode, LONG);
        assertThat(lock(transitional, LONG)).isEmpty();
        oldLock.unlock();

        SimpleLock newLock = locked(newNode, LONG);
        assertThat(lock(transitional, LONG)).isEmpty();
        newLock.unlock();

        locked(transitional, LONG).unlock();
    }

    @Test
    void refused_by_the_old_lock_it_leaves_nothing_taken_although_it_asks_for_lockAtLeastFor() {
        locked(oldNode, LONG);

        assertThat(transitional.lock(config(job, LONG, LONG))).isEmpty();

        assertThat(lock(newNode, LONG)).isPresent();
    }

    @Test
    void refused_by_bitjang_it_leaves_nothing_taken_although_it_asks_for_lockAtLeastFor() {
        locked(newNode, LONG);

        assertThat(transitional.lock(config(job, LONG, LONG))).isEmpty();

        assertThat(lock(oldNode, LONG)).isPresent();
    }

    @Test
    void failure_of_the_old_provider_is_told_and_leaves_nothing_taken() {
        LockProvider broken = new BitjangLockProvider(locks).alongside(config -> {
            throw new IllegalStateException("the old table is gone");
        });

        assertThatThrownBy(() -> lock(broken, LONG)).hasMessage("the old table is gone");

        assertThat(lock(newNode, LONG)).isPresent();
    }

    @Test
    void failure_to_unlock_the_old_one_is_told_and_bitjangs_is_unlocked_all_the_same() {
        SimpleLock stuck = () -> {
            throw new IllegalStateException("can't be unlocked");
        };
        SimpleLock both = locked(new BitjangLockProvider(locks).alongside(config -> Optional.of(stuck)), LONG);

        assertThatThrownBy(both::unlock).hasMessage("can't be unlocked");

        assertThat(lock(newNode, LONG)).isPresent();
    }

    @Test
    void lockAtLeastFor_is_kept_in_both() {
        transitional
                .lock(config(job, LONG, Duration.ofMinutes(1)))
                .orElseThrow()
                .unlock();

        assertThat(lock(oldNode, LONG)).isEmpty();
        assertThat(lock(newNode, LONG)).isEmpty();
    }

    @Test
    void extension_extends_both_and_ends_the_former_lock() {
        SimpleLock lock = locked(transitional, Duration.ofMinutes(1));

        SimpleLock extended = lock.extend(LONG, Duration.ZERO).orElseThrow();

        assertThat(row().remaining()).isGreaterThan(Duration.ofMinutes(2));
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
        extended.unlock();
        assertThat(lock(oldNode, LONG)).isPresent();
        assertThat(lock(newNode, LONG)).isPresent();
    }

    @Test
    void extension_is_refused_when_bitjangs_lock_was_lost() {
        SimpleLock lock = locked(transitional, LONG);
        locks.admin().forceRelease(row().name(), row().fence(), "operator", "it hangs");

        assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();
    }

    /** Every node runs the job so often; whoever comes while another is in it, or whose count is overwritten, spoils it. */
    private void assertNeverTwoAtOnce(LockProvider... nodes) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        int[] counter = new int[1];
        CyclicBarrier together = new CyclicBarrier(nodes.length);
        ExecutorService threads = Executors.newFixedThreadPool(nodes.length);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (LockProvider node : nodes) {
                DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(node);
                running.add(threads.submit(() -> {
                    together.await();
                    AtomicInteger runs = new AtomicInteger();
                    Runnable work = () -> {
                        overlaps.addAndGet(inside.getAndIncrement());
                        int seen = counter[0];
                        Thread.yield();
                        counter[0] = seen + 1;
                        inside.getAndDecrement();
                        runs.incrementAndGet();
                    };
                    while (runs.get() < ROUNDS) {
                        executor.executeWithLock(work, config(LONG));
                        Thread.yield();
                    }
                    return null;
                }));
            }
            for (Future<?> node : running) {
                node.get(60 + ROUNDS, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(overlaps).hasValue(0);
        assertThat(counter[0]).isEqualTo(nodes.length * ROUNDS);
    }
}
