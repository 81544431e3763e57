// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockName;
import io.bitjang.Locks;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Reads one row of the locks' table, through the locks' own connections, and answers within its bound also if the database does not.
 * While an answer is outstanding no second question is asked, so a database that hangs takes one thread and one connection, not one
 * for each visit. Thread-safe.
 */
final class LocksHealthIndicator extends AbstractHealthIndicator {

    private static final LockName NOBODY = LockName.of("bitjang", "health");

    private final Locks locks;
    private final Duration timeout;
    private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("bitjang-health-");
    private final AtomicReference<FutureTask<Boolean>> asked = new AtomicReference<>();

    LocksHealthIndicator(Locks locks, Duration timeout) {
        super("The locks can't be reached");
        this.locks = locks;
        this.timeout = timeout;
        threads.setDaemon(true);
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) throws Exception {
        try {
            question().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            builder.up();
        } catch (TimeoutException e) {
            builder.down().withDetail("error", "The database did not answer within " + timeout.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /** The one that is outstanding, or a new one. */
    private FutureTask<Boolean> question() {
        FutureTask<Boolean> mine =
                new FutureTask<>(() -> locks.admin().find(NOBODY).isPresent());
        FutureTask<Boolean> current = asked.updateAndGet(before -> before == null || before.isDone() ? mine : before);
        if (current == mine) {
            threads.execute(mine);
        }
        return current;
    }
}
