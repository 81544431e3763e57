// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A test that runs with two nodes on each database. */
@ParameterizedClass(name = "{0}")
@MethodSource("databases")
abstract class OnShedLock {

    static final Duration LONG = Duration.ofMinutes(5);

    @Parameter
    String databaseName;

    final String job = "job-" + UUID.randomUUID();
    TestDatabase database;
    HikariDataSource pool;
    Switch source;
    Locks locks;
    Locks otherLocks;

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
    }

    @AfterEach
    final void stop() {
        source.works();
        locks.close();
        otherLocks.close();
        pool.close();
    }

    static LockConfiguration config(String name, Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
    }

    LockConfiguration config(Duration atMost) {
        return config(job, atMost, Duration.ZERO);
    }

    Optional<SimpleLock> lock(LockProvider provider, Duration atMost) {
        return provider.lock(config(atMost));
    }

    SimpleLock locked(LockProvider provider, Duration atMost) {
        return lock(provider, atMost).orElseThrow();
    }

    LockData row() {
        return otherLocks.admin().find(LockName.of("shedlock", job)).orElseThrow();
    }

    boolean isHeld() {
        return row().held();
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
