// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.admin.LockCounts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * How many locks the table has, of all processes, by state. They are counted when the gauge is made, and anew in the background
 * when it is read: an old count is shown meanwhile, and none if the database does not answer. Only the first count is waited for,
 * and not for long. Thread-safe.
 */
final class LockCountGauges implements MeterBinder {

    private static final Log LOG = LogFactory.getLog(LockCountGauges.class);

    /** Since the gauge was made: then the first count should be there. */
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(2);

    private final Supplier<LockCounts> source;
    private final long interval;
    private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("bitjang-counts-");
    private final AtomicBoolean counting = new AtomicBoolean();
    private final AtomicLong due = new AtomicLong(System.nanoTime());
    private final CountDownLatch first = new CountDownLatch(1);
    private volatile long firstUntil = System.nanoTime();
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
            firstUntil = System.nanoTime() + PATIENCE;
            countIfDue();
        }
    }

    private void gauge(MeterRegistry registry, String state, ToLongFunction<LockCounts> count) {
        Gauge.builder("bitjang.locks", () -> latest(count))
                .description("How many locks the table has, of all processes")
                .tag("state", state)
                .register(registry);
    }

    private double latest(ToLongFunction<LockCounts> count) {
        countIfDue();
        awaitFirst();
        LockCounts counts = latest;
        return counts == null ? Double.NaN : count.applyAsLong(counts);
    }

    private void countIfDue() {
        if (System.nanoTime() - due.get() >= 0 && counting.compareAndSet(false, true)) {
            due.set(System.nanoTime() + interval);
            threads.execute(this::refresh);
        }
    }

    private void awaitFirst() {
        try {
            if (!first.await(Math.max(0, firstUntil - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                LOG.debug("The locks are still being counted");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void refresh() {
        try {
            latest = source.get();
        } catch (RuntimeException e) {
            latest = null;
            LOG.debug("The locks could not be counted", e);
        } finally {
            counting.set(false);
            first.countDown();
        }
    }
}
