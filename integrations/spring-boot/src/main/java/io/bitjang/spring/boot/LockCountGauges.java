// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.admin.LockCounts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * How many locks the table has, of all processes, by state. Whoever reads the gauge never waits for the database: an old count is
 * shown while a new one is made in the background, and none if the database does not answer. Thread-safe.
 */
final class LockCountGauges implements MeterBinder {

    private static final Log LOG = LogFactory.getLog(LockCountGauges.class);

    private final Supplier<LockCounts> source;
    private final long interval;
    private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("bitjang-counts-");
    private final AtomicBoolean counting = new AtomicBoolean();
    private final AtomicLong due = new AtomicLong(System.nanoTime());
    private volatile @Nullable LockCounts latest;

    LockCountGauges(Supplier<LockCounts> source, Duration interval) {
        this.source = source;
        this.interval = interval.toNanos();
        threads.setDaemon(true);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        if (interval > 0) {
            gauge(registry, "held", LockCounts::held);
            gauge(registry, "expired", LockCounts::expired);
            gauge(registry, "free", LockCounts::free);
        }
    }

    private void gauge(MeterRegistry registry, String state, ToLongFunction<LockCounts> count) {
        Gauge.builder("bitjang.locks", () -> latest(count))
                .description("How many locks the table has, of all processes")
                .tag("state", state)
                .register(registry);
    }

    private double latest(ToLongFunction<LockCounts> count) {
        if (System.nanoTime() - due.get() >= 0 && counting.compareAndSet(false, true)) {
            due.set(System.nanoTime() + interval);
            threads.execute(this::refresh);
        }
        LockCounts counts = latest;
        return counts == null ? Double.NaN : count.applyAsLong(counts);
    }

    private void refresh() {
        try {
            latest = source.get();
        } catch (RuntimeException e) {
            latest = null;
            LOG.debug("The locks could not be counted", e);
        } finally {
            counting.set(false);
        }
    }
}
