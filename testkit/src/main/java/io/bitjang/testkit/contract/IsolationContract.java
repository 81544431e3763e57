// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Whatever isolation level and auto-commit mode the pool's connections come with: the locks exclude each other, and no failure that
 * the database says to repeat reaches a caller.
 */
@Timeout(120)
public abstract class IsolationContract extends OnLocks {

    private static final int THREADS = 8;
    private static final int ROUNDS = 12;
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(60));

    private final Map<String, Thread> inside = new ConcurrentHashMap<>();
    private final Queue<String> history = new ConcurrentLinkedQueue<>();

    /** For the databases. */
    protected IsolationContract() {}

    @ParameterizedTest
    @CsvSource({
        "TRANSACTION_READ_COMMITTED, false",
        "TRANSACTION_REPEATABLE_READ, true",
        "TRANSACTION_REPEATABLE_READ, false",
        "TRANSACTION_SERIALIZABLE, true",
        "TRANSACTION_SERIALIZABLE, false"
    })
    void contention_stays_between_the_locks(String isolation, boolean autoCommit) throws Exception {
        List<Locks> nodes = List.of(node(isolation, autoCommit), node(isolation, autoCommit));
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            CountDownLatch start = new CountDownLatch(1);
            List<Future<?>> results = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Locks node = nodes.get(i % nodes.size());
                results.add(threads.submit(() -> {
                    start.await();
                    for (int round = 0; round < ROUNDS; round++) {
                        once(node);
                    }
                    return null;
                }));
            }
            start.countDown();
            for (Future<?> result : results) {
                result.get(100, TimeUnit.SECONDS);
            }
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause() + "\nWhat happened before:\n" + String.join("\n", history), e);
        } finally {
            threads.shutdownNow();
        }
        assertThat(inside).isEmpty();
    }

    private Locks node(String isolation, boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(6);
        config.setTransactionIsolation(isolation);
        config.setAutoCommit(autoCommit);
        return closing(Locks.builder(closing(new HikariDataSource(config)))
                .listener(event -> history.add(Thread.currentThread().getName() + " " + event))
                .build());
    }

    private void once(Locks node) {
        List<String> names = List.of(name("a"), name("b"), name("c"));
        int choice = ThreadLocalRandom.current().nextInt(4);
        String one = names.get(ThreadLocalRandom.current().nextInt(names.size()));
        switch (choice) {
            case 0 -> {
                try (Lease lease =
                        node.leaseAll(names.get(0), names.get(2)).lasting(LEASE).acquire(PATIENT)) {
                    lease.renew();
                    alone(List.of(names.get(0), names.get(2)));
                }
            }
            case 1 -> {
                try {
                    LockId id = node.manager().tryLock("order", one, "me", LEASE);
                    alone(List.of("order " + one));
                    node.manager().renew(id, LEASE);
                    node.manager().releaseLock(id);
                } catch (AlreadyLockedException e) {
                    Thread.onSpinWait();
                }
            }
            default -> {
                try (Lease lease = node.lease(one).lasting(LEASE).acquire(PATIENT)) {
                    alone(List.of(one));
                    lease.renew();
                }
            }
        }
    }

    private void alone(List<String> names) {
        for (String name : names) {
            assertThat(inside.putIfAbsent(name, Thread.currentThread()))
                    .as("the other holder of " + name)
                    .isNull();
        }
        Thread.yield();
        names.forEach(inside::remove);
    }
}
