// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.Runner;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Workers;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Does what an engine plans, on the threads of its instance. Thread-safe. */
record WorkerDriver(Runner database, Workers workers) implements Driver {

    @Override
    public <T extends @Nullable Object> T run(Plan<T> plan) {
        return plan.run(database);
    }

    @Override
    public void start(Plan<?> plan) {
        workers.execute(() -> plan.run(database));
    }

    @Override
    public boolean start(String thread, Plan<?> plan) {
        return workers.start(thread, () -> plan.run(database)) != null;
    }

    @Override
    public Ticker ticker() {
        return workers.ticker();
    }

    @Override
    public Alarm alarm(Runnable task) {
        return new Alarm(workers, task);
    }

    @Override
    public @Nullable Future<?> after(long nanos, Runnable task) {
        return workers.after(nanos, task);
    }

    @Override
    public void callBack(Runnable code) {
        workers.callBack(code);
    }

    @Override
    public void complete(Runnable task) {
        workers.complete(task);
    }
}
