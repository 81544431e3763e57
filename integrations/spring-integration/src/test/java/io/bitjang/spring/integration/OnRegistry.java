// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A test that runs with two nodes on each database. */
@ParameterizedClass(name = "{0}")
@MethodSource("databases")
abstract class OnRegistry {

    private static final long LATE_MS = 2_300;

    @Parameter
    String databaseName;

    final String key = "key-" + UUID.randomUUID();
    final ExecutorService threads = Executors.newCachedThreadPool();
    TestDatabase database;
    HikariDataSource pool;
    Switch source;
    Locks locks;
    Locks otherLocks;
    BitjangLockRegistry registry;
    BitjangLockRegistry otherNode;

    static List<String> databases() {
        return TestDatabases.selected();
    }

    @BeforeEach
    final void start() {
        database = TestDatabases.byName(databaseName);
        pool = database.pool(20);
        source = new Switch(pool);
        locks = Locks.create(source.dataSource());
        otherLocks = Locks.create(pool);
        registry = new BitjangLockRegistry(locks);
        otherNode = new BitjangLockRegistry(otherLocks);
    }

    @AfterEach
    final void stop() throws InterruptedException {
        source.works();
        threads.shutdownNow();
        assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        locks.close();
        otherLocks.close();
        pool.close();
    }

    /** On another thread. */
    <T> T elsewhere(Callable<T> work) throws Exception {
        return threads.submit(work).get(30, TimeUnit.SECONDS);
    }

    /** Whether another thread could have it now; it gives it back. */
    boolean isFree(Lock lock) throws Exception {
        return elsewhere(() -> {
            boolean taken = lock.tryLock();
            if (taken) {
                lock.unlock();
            }
            return taken;
        });
    }

    LockData row() {
        return row(key);
    }

    LockData row(String ofKey) {
        return otherLocks.admin().find(LockName.of("spring-integration", ofKey)).orElseThrow();
    }

    /** An operator takes it away, and its holder gets to know. */
    void takeAway() {
        assertThat(otherLocks.admin().forceRelease(row().name(), row().fence(), "operator", "it hangs"))
                .isTrue();
    }

    /**
     * When its time is over, not before and not seconds later. Only a machine that stands still makes it longer, and not every time; one
     * who waits for the database instead of the clock does so every time. No measurement may be too short.
     */
    static void assertEndsAfter(long millis, Ending work) throws Exception {
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < 4 && shortest > millis + LATE_MS; i++) {
            long begin = System.nanoTime();
            work.run();
            long took = millisSince(begin);
            assertThat(took).isGreaterThanOrEqualTo(millis - 10);
            shortest = Math.min(shortest, took);
        }
        assertThat(shortest).isLessThanOrEqualTo(millis + LATE_MS);
    }

    /** What ends by itself. */
    interface Ending {
        void run() throws Exception;
    }

    static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }

    /** The database decides when: it is asked until it says so. */
    static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("waited for 20 seconds").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }
}
