// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.DistLock;
import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.testkit.CountingDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Locks by the name of an owner. */
public abstract class DistLockContract extends OnLocks {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** For the databases. */
    protected DistLockContract() {}

    @Test
    void a_new_lock_is_granted_for_its_duration() {
        assertThat(locks.distLock().tryLock(batch(), "node-1", Duration.ofMillis(61_500)))
                .isTrue();

        LockData data = row();
        assertThat(data.held()).isTrue();
        assertThat(data.owner()).isEqualTo("node-1");
        assertThat(data.remaining()).isBetween(Duration.ofSeconds(20), Duration.ofMillis(61_500));
        assertThat(Duration.between(data.acquiredAt(), data.expiresAt()))
                .isBetween(Duration.ofMillis(61_500), Duration.ofMillis(62_499));
    }

    @Test
    void another_owner_is_refused_and_changes_nothing() {
        locks.distLock().tryLock(batch(), "node-1", MINUTE);
        LockData before = row();

        assertThat(other.distLock().tryLock(batch(), "node-2", MINUTE)).isFalse();
        assertThat(locks.distLock().tryLock(batch(), "node-2", Duration.ofHours(1)))
                .isFalse();

        assertSame(before, row());
    }

    @Test
    void the_owner_re_enters_and_keeps_the_grant_and_at_least_its_expiry() {
        locks.distLock().tryLock(batch(), "node-1", MINUTE);
        LockData first = row();

        assertThat(locks.distLock().tryLock(batch(), "node-1", Duration.ofSeconds(1)))
                .isTrue();
        assertSame(first, row());

        assertThat(locks.distLock().tryLock(batch(), "node-1", MINUTE.multipliedBy(3)))
                .isTrue();
        LockData longer = row();
        assertThat(longer.fence()).isEqualTo(first.fence());
        assertThat(longer.acquiredAt()).isEqualTo(first.acquiredAt());
        assertThat(longer.expiresAt()).isAfter(first.expiresAt());
        assertThat(longer.remaining()).isGreaterThan(MINUTE);
    }

    @Test
    void a_re_entered_lock_is_free_after_one_unlock() {
        locks.distLock().tryLock(batch(), "node-1", MINUTE);
        locks.distLock().tryLock(batch(), "node-1", MINUTE);

        locks.distLock().unlock(batch(), "node-1");

        assertThat(other.distLock().tryLock(batch(), "node-2", MINUTE)).isTrue();
    }

    @Test
    void owners_are_compared_exactly() {
        locks.distLock().tryLock(batch(), "kim", MINUTE);

        for (String similar : List.of("Kim", "KIM", "kim ", " kim", "kím", "ki\u0301m", "kim\n")) {
            assertThat(locks.distLock().tryLock(batch(), similar, MINUTE))
                    .as("'%s'", similar)
                    .isFalse();
            assertThatExceptionOfType(NoLockException.class)
                    .as("'%s'", similar)
                    .isThrownBy(() -> locks.distLock().unlock(batch(), similar));
        }
        assertThat(row().owner()).isEqualTo("kim");
        assertThat(row().held()).isTrue();
    }

    @Test
    void processes_that_share_an_owner_share_the_lock() {
        assertThat(locks.distLock().tryLock(batch(), "team", MINUTE)).isTrue();
        long fence = row().fence();

        assertThat(other.distLock().tryLock(batch(), "team", MINUTE)).isTrue();
        assertThat(row().fence()).isEqualTo(fence);

        other.distLock().unlock(batch(), "team");
        assertThat(row().held()).isFalse();
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.distLock().unlock(batch(), "team"))
                .withMessageContaining("released");
    }

    @Test
    void an_owner_is_never_refused_its_own_lock_however_often_and_from_wherever_it_asks() throws Exception {
        assertThat(locks.distLock().tryLock(batch(), "team", MINUTE)).isTrue();
        long fence = row().fence();
        int threads = 6;
        CyclicBarrier start = new CyclicBarrier(threads);
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Integer>> refusals = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                DistLock node = (i % 2 == 0 ? locks : other).distLock();
                refusals.add(executor.submit(() -> {
                    start.await();
                    int refused = 0;
                    for (int n = 0; n < 20; n++) {
                        refused += node.tryLock(batch(), "team", MINUTE) ? 0 : 1;
                    }
                    return refused;
                }));
            }
            for (Future<Integer> refused : refusals) {
                assertThat(refused.get()).isZero();
            }
        } finally {
            executor.shutdownNow();
        }
        assertThat(row().fence()).isEqualTo(fence);
    }

    @Test
    void a_lapsed_lock_is_taken_over_by_the_next_owner() {
        lapsed("node-1");
        long fence = row().fence();

        assertThat(other.distLock().tryLock(batch(), "node-2", MINUTE)).isTrue();

        LockData taken = row();
        assertThat(taken.owner()).isEqualTo("node-2");
        assertThat(taken.fence()).isGreaterThan(fence);
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.distLock().unlock(batch(), "node-1"))
                .withMessageContaining("taken by node-2");
        assertSame(taken, row());
    }

    @Test
    void a_lapsed_lock_is_a_new_grant_also_for_its_former_owner() {
        lapsed("node-1");
        long fence = row().fence();

        assertThat(locks.distLock().tryLock(batch(), "node-1", MINUTE)).isTrue();

        assertThat(row().fence()).isGreaterThan(fence);
        locks.distLock().unlock(batch(), "node-1");
        assertThat(row().held()).isFalse();
    }

    @Test
    void a_lapsed_lock_that_nobody_took_can_still_be_given_back() {
        lapsed("node-1");

        locks.distLock().unlock(batch(), "node-1");

        assertThat(row().held()).isFalse();
        assertThat(row().isExpired()).isFalse();
    }

    @Test
    void a_free_lock_is_taken_again_for_ever() {
        long fence = 0;
        for (int i = 0; i < 50; i++) {
            DistLock node = (i % 3 == 0 ? other : locks).distLock();
            assertThat(node.tryLock(batch(), "node-" + i % 2, MINUTE))
                    .as("round %d", i)
                    .isTrue();
            assertThat(row().fence()).isGreaterThan(fence);
            fence = row().fence();
            node.unlock(batch(), "node-" + i % 2);
        }
    }

    @Test
    void only_the_owner_can_unlock() {
        locks.distLock().tryLock(batch(), "node-1", MINUTE);

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.distLock().unlock(batch(), "node-2"))
                .withMessageContainingAll("node-2", batch());

        assertThat(row().held()).isTrue();
    }

    @Test
    void a_lock_is_unlocked_where_it_was_taken() {
        locks.distLock().tryLock(batch(), "node-1", MINUTE);

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> other.distLock().unlock(batch(), "node-1"));

        assertThat(row().held()).isTrue();
    }

    @Test
    void unlocking_twice_says_so() {
        locks.distLock().tryLock(batch(), "node-1", MINUTE);
        locks.distLock().unlock(batch(), "node-1");

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.distLock().unlock(batch(), "node-1"))
                .satisfies(refusal -> assertThat(refusal.name()).contains(lock()));
    }

    @Test
    void a_lock_by_owner_and_a_lease_of_the_same_name_are_two_locks() {
        assertThat(locks.distLock().tryLock(batch(), "node-1", MINUTE)).isTrue();

        assertThat(other.lease(batch()).tryAcquire()).map(Lease::isHeld).contains(true);
    }

    @Test
    void a_failing_database_is_an_exception_and_never_a_no() {
        HikariDataSource own = closing(database.pool(2));
        Locks node = closing(Locks.builder(own).build());
        node.distLock().tryLock(batch(), "node-1", MINUTE);
        own.close();

        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.distLock().tryLock(batch(), "node-2", MINUTE))
                .satisfies(failure -> assertThat(failure.name()).contains(lock()))
                .satisfies(failure -> assertThat(failure.getCause()).isInstanceOf(SQLException.class));
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.distLock().unlock(batch(), "node-1"));
        assertThat(row().held()).isTrue();
    }

    @Test
    void lock_taken_again_after_an_answer_was_lost_is_not_given_back_behind_its_owner() throws Exception {
        CountingDataSource seen = new CountingDataSource(pool);
        Locks node = closing(Locks.create(seen));
        AutoCloseable up = seen::clearHooks;
        closing(up);
        Thread test = Thread.currentThread();
        LockData granted = takenWithoutKnowing(node, seen);
        Gate background = closing(new Gate());
        CountDownLatch released = new CountDownLatch(2);
        seen.onStatement(sql -> {
            if (Thread.currentThread() != test) {
                background.pass();
            }
        });
        seen.afterStatement(sql -> {
            if (Thread.currentThread() != test) {
                released.countDown();
            }
        });

        assertThat(node.distLock().tryLock(batch(), "me", MINUTE)).isTrue();
        background.close();
        assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();

        assertThat(other.distLock().tryLock(batch(), "another", MINUTE)).isFalse();
        assertThat(row().fence()).isEqualTo(granted.fence());
        node.distLock().unlock(batch(), "me");
        assertThat(other.distLock().tryLock(batch(), "another", MINUTE)).isTrue();
    }

    @Test
    void lock_taken_again_by_another_process_after_an_answer_was_lost_is_not_given_back_behind_its_owner()
            throws Exception {
        CountingDataSource seen = new CountingDataSource(pool);
        Locks node = closing(Locks.create(seen));
        AutoCloseable up = seen::clearHooks;
        closing(up);
        LockData granted = takenWithoutKnowing(node, seen);

        assertThat(locks.distLock().tryLock(batch(), "me", MINUTE)).isTrue();
        // only now does the first process reach the database again, and only what it does in the background
        CountDownLatch released = new CountDownLatch(2);
        seen.afterStatement(sql -> released.countDown());
        seen.onStatement(sql -> {});
        // what has freed it is not tried again
        Soon.holds("the late release was tried", () -> released.getCount() == 0 || !row().held());

        assertThat(other.distLock().tryLock(batch(), "another", MINUTE)).isFalse();
        assertThat(row().owner()).isEqualTo("me");
        assertThat(row().fence()).isEqualTo(granted.fence());
        locks.distLock().unlock(batch(), "me");
        assertThat(other.distLock().tryLock(batch(), "another", MINUTE)).isTrue();
    }

    /** An attempt that is granted, but its answer is lost, and the database is down from then on for this node. */
    private LockData takenWithoutKnowing(Locks node, CountingDataSource seen) {
        // known here as free, so it is taken by the first statement
        node.distLock().tryLock(batch(), "me", MINUTE);
        node.distLock().unlock(batch(), "me");
        seen.afterStatement(sql -> {
            seen.onStatement(later -> {
                throw new SQLException("The database is down", "08006");
            });
            throw new SQLException("The answer is lost", "08006");
        });
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.distLock().tryLock(batch(), "me", MINUTE));
        LockData granted = row();
        assertThat(granted.held()).isTrue();
        return granted;
    }

    private String batch() {
        return name("batch");
    }

    private LockName lock() {
        return LockName.of(DistLock.TYPE, batch());
    }

    private LockData row() {
        return other.admin().find(lock()).orElseThrow();
    }

    private void lapsed(String owner) {
        assertThat(locks.distLock().tryLock(batch(), owner, Duration.ofMillis(100)))
                .isTrue();
        Soon.holds("it lapsed", () -> row().isExpired());
    }

    private static void assertSame(LockData expected, LockData actual) {
        assertThat(actual)
                .usingRecursiveComparison()
                .ignoringFields("remaining")
                .isEqualTo(expected);
    }
}
