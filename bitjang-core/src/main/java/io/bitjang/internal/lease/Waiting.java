// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Ticks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * All queues of an instance, and the one poller that serves them: it reads the rows of all names that are waited for in one
 * statement, and makes an attempt only where the lock looks free. Where the database can notify, a notification comes first and
 * the poll is the safety net. Callers never wait on the database itself, so no deadline depends on it. Thread-safe.
 */
final class Waiting {

    private static final long LOCAL_HOLDER_POLL = Duration.ofSeconds(1).toNanos();
    private static final long NOTIFIED_POLL = Duration.ofMillis(500).toNanos();
    private static final long FAILED_POLL = Duration.ofMillis(200).toNanos();
    private static final long STAND_BACK = Duration.ofMillis(75).toNanos();
    private static final long STAND_BACK_NOTIFIED = Duration.ofMillis(15).toNanos();

    private final LeaseEngine engine;
    private final LockStore store;
    private final Workers workers;
    private final Notifications notifications;
    private final Map<List<LockName>, WaitQueue> queues = new ConcurrentHashMap<>();
    private final AtomicBoolean polling = new AtomicBoolean();

    private final Alarm alarm;

    Waiting(LeaseEngine engine, LockStore store, Workers workers, Notifications notifications) {
        this.engine = engine;
        this.store = store;
        this.workers = workers;
        this.notifications = notifications;
        this.alarm = new Alarm(workers, this::startPolling);
    }

    /**
     * Puts one into its queue. The first in a queue gets an attempt at once, unless a lease of this process has the lock: that one
     * looks at the queue after it has stopped counting as held here, so one of the two sees the other.
     */
    void enqueue(Waiter waiter) {
        WaitQueue queue = queues.computeIfAbsent(waiter.names, WaitQueue::new);
        while (!queue.add(waiter)) {
            queues.remove(waiter.names, queue);
            queue = queues.computeIfAbsent(waiter.names, WaitQueue::new);
        }
        if (engine.holds(waiter.names)) {
            queue.polled(Long.MAX_VALUE, LOCAL_HOLDER_POLL);
            cleanUpOrSchedule(queue);
        } else if (queue.isFirst(waiter)) {
            attempt(queue);
        }
    }

    /** The queue of those who wait for just these locks. */
    @Nullable
    WaitQueue queueFor(List<LockName> names) {
        return queues.get(names);
    }

    /** One of these locks may be free now: whoever waits for it tries. */
    void kick(List<LockName> freed) {
        queues.values().stream()
                .filter(queue -> queue.names.stream().anyMatch(freed::contains))
                .forEach(this::attempt);
    }

    /** The lock was really freed although some wait here: other processes go first. */
    void standBack(WaitQueue queue) {
        alarm.setTo(queue.freed(notifications.active() ? STAND_BACK_NOTIFIED : STAND_BACK));
    }

    /** One has left without a lease. */
    void left(Waiter waiter) {
        WaitQueue queue = queues.get(waiter.names);
        if (queue != null && queue.retireIfEmpty()) {
            queues.remove(waiter.names, queue);
        }
    }

    boolean isEmpty() {
        return queues.isEmpty();
    }

    void failAll(LockException reason) {
        queues.values().forEach(queue -> queue.waiters().forEach(waiter -> waiter.fail(reason)));
        queues.clear();
    }

    private void attempt(WaitQueue queue) {
        Waiter first = queue.beginAttempt();
        if (first == null) {
            cleanUpOrSchedule(queue);
            return;
        }
        workers.execute(() -> attempt(queue, first));
    }

    private void attempt(WaitQueue queue, Waiter first) {
        boolean granted = false;
        boolean wanted = false;
        try {
            Attempts.Outcome outcome = engine.attempt(queue.names, first.request);
            granted = outcome.answer().granted();
            wanted = outcome.answer().wanted();
            if (granted) {
                LeaseHandle lease = engine.granted(queue.names, first.request, outcome);
                queue.attempted(true, wanted);
                if (!first.serve(lease)) {
                    lease.close();
                }
            } else {
                first.refused(null);
                LockRow holder = outcome.answer().holder();
                if (holder != null && queue.names.size() == 1) {
                    look(queue, Map.of(holder.name(), holder), false);
                }
            }
        } catch (DatabaseException e) {
            first.failed(Attempts.failed(queue.names.get(0), "could not be marked as waited for", e));
        } catch (LockException e) {
            first.failed(e);
            queue.polled(FAILED_POLL, FAILED_POLL);
        } finally {
            if (!granted) {
                queue.attempted(false, wanted);
                notifications.want();
            }
            cleanUpOrSchedule(queue);
        }
    }

    private void cleanUpOrSchedule(WaitQueue queue) {
        if (queue.retireIfEmpty()) {
            queues.remove(queue.names, queue);
            return;
        }
        long at = queue.nextPoll();
        if (at != Long.MAX_VALUE) {
            alarm.setTo(at);
        }
    }

    private void startPolling() {
        if (polling.compareAndSet(false, true)) {
            workers.execute(this::poll);
        }
    }

    private void poll() {
        List<WaitQueue> due = new ArrayList<>();
        try {
            long now = Ticks.now();
            queues.values().stream()
                    .filter(queue -> queue.nextPoll() != Long.MAX_VALUE && queue.nextPoll() - now <= 0)
                    .forEach(due::add);
            if (!due.isEmpty()) {
                Map<LockName, LockRow> rows = store.read(due.stream()
                        .flatMap(queue -> queue.names.stream())
                        .distinct()
                        .toList());
                due.forEach(queue -> look(queue, rows, true));
            }
        } catch (DatabaseException e) {
            for (WaitQueue queue : due) {
                queue.waiters().forEach(w -> w.failed(Attempts.failed(queue.names.get(0), "could not be read", e)));
                queue.polled(FAILED_POLL, FAILED_POLL);
            }
        } finally {
            polling.set(false);
            queues.values().forEach(this::cleanUpOrSchedule);
        }
    }

    /** Who has it, until when, and do they know that it is waited for here? */
    private void look(WaitQueue queue, Map<LockName, LockRow> rows, boolean attemptIfFree) {
        long holderEnds = 0;
        boolean held = false;
        boolean here = false;
        for (LockName name : queue.names) {
            LockRow row = rows.get(name);
            if (row == null || !row.held()) {
                continue;
            }
            held = true;
            holderEnds = Math.max(holderEnds, row.remaining().toNanos() + 1_000_000);
            if (engine.holds(name, row.fence())) {
                here = true;
            } else if (!row.wanted()) {
                markWanted(name);
            }
            queue.waiters().forEach(waiter -> waiter.refused(row.toData()));
        }
        if (held) {
            queue.polled(holderEnds, here ? LOCAL_HOLDER_POLL : notifications.active() ? NOTIFIED_POLL : 0);
        } else if (attemptIfFree) {
            attempt(queue);
        }
    }

    /** A row that is locked right now is marked at the next poll. */
    private void markWanted(LockName name) {
        try {
            store.markWanted(name);
        } catch (DatabaseException e) {
            if (e.meaning() != DatabaseException.Meaning.BUSY && e.meaning() != DatabaseException.Meaning.REPEAT) {
                throw e;
            }
        }
    }
}
