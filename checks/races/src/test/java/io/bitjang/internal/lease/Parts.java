// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.OneRow;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
import io.bitjang.races.HandWorkers;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What a lease needs around it: it counts what the lease asks for, and does nothing. */
final class Parts implements LeaseHandle.Keeper {

    static final Duration LASTS = Duration.ofSeconds(30);

    final HandWorkers workers = new HandWorkers();
    final OneRow row = new OneRow();
    final AtomicInteger released = new AtomicInteger();
    final AtomicInteger releasedLater = new AtomicInteger();
    final AtomicInteger lost = new AtomicInteger();

    /** Makes a lease of the lock with this fence. */
    LeaseHandle lease(long fence) {
        Clocks now = workers.ticker().clocks();
        return new LeaseHandle(
                this,
                new WorkerDriver(row, workers),
                List.of(OneRow.JOB),
                new GrantKey(OneRow.JOB, fence, "secret"),
                Request.of("node", LASTS, null),
                new LeaseState(now, now.ticks() + LASTS.toNanos()));
    }

    @Override
    public void requireOpen() {}

    @Override
    public <T extends @Nullable Object> T run(Plan<T> plan) {
        return plan.run(row);
    }

    @Override
    public Plan<Boolean> renewal(LeaseHandle lease) {
        return Plan.of(true);
    }

    @Override
    public void guard(Connection connection, LeaseHandle lease) {}

    @Override
    public Plan<@Nullable Void> release(LeaseHandle lease) {
        released.incrementAndGet();
        return Plan.DONE;
    }

    @Override
    public void releaseLater(LeaseHandle lease) {
        releasedLater.incrementAndGet();
    }

    @Override
    public void lost(LeaseHandle lease, String reason, Executor telling) {
        lost.incrementAndGet();
    }

    @Override
    public void ask(LeaseHandle lease, Clocks confirmedAt, Executor telling) {}
}
