// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.Runner;
import io.bitjang.internal.work.Workers;
import org.jspecify.annotations.Nullable;

/** Does what plans say on threads that wait for the database. Thread-safe. */
final class WorkerDriver implements Driver {

    private final Runner database;
    private final Workers workers;

    WorkerDriver(Runner database, Workers workers) {
        this.database = database;
        this.workers = workers;
    }

    @Override
    public <T extends @Nullable Object> T run(Plan<T> plan) {
        return database.run(plan);
    }

    @Override
    public void start(Plan<?> plan) {
        workers.execute(() -> database.run(plan));
    }

    @Override
    public boolean start(String thread, Plan<?> plan) {
        return workers.start(thread, () -> database.run(plan)) != null;
    }
}
