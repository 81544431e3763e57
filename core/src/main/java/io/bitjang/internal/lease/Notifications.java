// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect.Notifying;
import io.bitjang.internal.sql.Channel;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.work.Log;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Listens for the database's word that a lock was freed, on a thread and a connection that exist only while someone waits. Where
 * notifications fail, the poller does the work. Thread-safe.
 */
final class Notifications implements WakeUps {

    private static final Duration LINGER = Duration.ofSeconds(3);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);
    private static final int BLOCK_MILLIS = 200;

    private enum State {
        OFF,
        STARTING,
        LISTENING,
        CLOSED
    }

    private final Workers workers;
    private final Database database;
    private final Notifying notifying;
    private final Sleepers sleepers;
    private final AtomicReference<State> state = new AtomicReference<>(State.OFF);
    private volatile Deadline retry;

    /** Since when it listens: what came before is not heard of. */
    private volatile long began;

    private volatile @Nullable Thread thread;

    Notifications(Workers workers, Database database, Notifying notifying, Sleepers sleepers) {
        this.workers = workers;
        this.retry = workers.ticker().in(Duration.ZERO);
        this.database = database;
        this.notifying = notifying;
        this.sleepers = sleepers;
    }

    @Override
    public boolean want(List<LockName> names) {
        if (retry.passed() && state.compareAndSet(State.OFF, State.STARTING)) {
            thread = workers.start("bitjang-listener", this::listen);
            if (thread == null) {
                retry = workers.ticker().in(PAUSE_AFTER_FAILURE);
                state.compareAndSet(State.STARTING, State.OFF);
            }
        }
        return false;
    }

    @Override
    public boolean willRing(List<LockName> names, long since) {
        return state.get() == State.LISTENING && began - since <= 0;
    }

    @Override
    public void close(Deadline end) {
        state.set(State.CLOSED);
        end.join(thread);
    }

    private void listen() {
        try (Channel open = database.listen(notifying)) {
            began = workers.ticker().now();
            state.compareAndSet(State.STARTING, State.LISTENING);
            Deadline end = workers.ticker().in(LINGER);
            while (state.get() == State.LISTENING && (sleepers.areThere() || !end.passed())) {
                sleepers.wake(open.receive(BLOCK_MILLIS));
                end = sleepers.areThere() ? workers.ticker().in(LINGER) : end;
            }
        } catch (RuntimeException e) {
            retry = workers.ticker().in(PAUSE_AFTER_FAILURE);
            Log.warn("Locks are polled for: no notifications. " + e.getMessage());
        } finally {
            state.updateAndGet(now -> now == State.CLOSED ? now : State.OFF);
        }
    }
}
