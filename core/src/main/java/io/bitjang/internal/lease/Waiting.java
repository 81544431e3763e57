// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.internal.sql.Answer;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All queues of an instance, and the one poller that serves them: it reads the rows of all names that are waited for in one
 * statement, and makes an attempt only where the lock looks free. Where the database can block or notify, a {@link Bell} comes
 * first and the poll is the safety net. Callers never wait on the database itself, so no deadline depends on it. Thread-safe.
 */
final class Waiting {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final long LOCAL_HOLDER_POLL = Duration.ofSeconds(1).toNanos();
    private static final long NOTIFIED_POLL = Duration.ofMillis(500).toNanos();
    private static final long CHANGED_POLL = Duration.ofMillis(5).toNanos();
    private static final long STAND_BACK = Duration.ofMillis(75).toNanos();
    private static final long BRIEFLY = Duration.ofMillis(15).toNanos();
    private static final long IN_LINE = Duration.ofMillis(500).toNanos();
    private static final int MAX_TURNS = 1000;

    private final LeaseEngine engine;
    private final LockStore store;
    private final Workers workers;
    private final Bell bell;
    private final Map<List<LockName>, WaitQueue> queues = new ConcurrentHashMap<>();

    /** The turns of queues that have emptied, while there is something to remember. */
    private final Map<List<LockName>, Turn> turns = new ConcurrentHashMap<>();

    private final AtomicBoolean polling = new AtomicBoolean();
    private final Alarm alarm;

    Waiting(LeaseEngine engine, LockStore store, Workers workers, Bell bell) {
        this.engine = engine;
        this.store = store;
        this.workers = workers;
        this.bell = bell;
        this.alarm = new Alarm(workers, this::startPolling);
    }

    /**
     * Puts one into its queue. The first in a queue gets an attempt at once, unless a lease of this process has the lock: that one
     * looks at the queue after it has stopped counting as held here, so one of the two sees the other.
     */
    void enqueue(LeaseWaiter waiter) {
        WaitQueue queue = queues.computeIfAbsent(waiter.names(), this::newQueue);
        while (!queue.add(waiter)) {
            queues.remove(waiter.names(), queue);
            queue = queues.computeIfAbsent(waiter.names(), this::newQueue);
        }
        if (engine.holds(waiter.names())) {
            waiter.refused(null);
            queue.lookAgain(Long.MAX_VALUE, LOCAL_HOLDER_POLL, 0);
            cleanUpOrSchedule(queue);
        } else if (queue.isFirst(waiter)) {
            if (bell.keepsOrder(waiter.names()) && bell.want(waiter.names())) {
                queue.notBefore(Ticks.now() + NOTIFIED_POLL);
                cleanUpOrSchedule(queue);
            } else {
                attempt(queue);
            }
        }
    }

    private WaitQueue newQueue(List<LockName> names) {
        @Nullable Turn remembered = turns.remove(names);
        return new WaitQueue(names, remembered == null ? new Turn() : remembered);
    }

    /** The queue of those who wait for just these locks. */
    @Nullable
    WaitQueue queueFor(List<LockName> names) {
        return queues.get(names);
    }

    /** Whether nobody here waits for these locks, and nobody elsewhere did a moment ago. */
    boolean isQuiet(List<LockName> names) {
        Turn turn = turns.get(names);
        return queues.get(names) == null && (turn == null || turn.isOver()) && !bell.keepsOrder(names);
    }

    /** Whether another queue of this process waits for one of these locks. */
    boolean wantedByOtherQueues(WaitQueue queue) {
        return queues.values().stream()
                .anyMatch(other -> other != queue && !Collections.disjoint(other.names, queue.names));
    }

    /** One of these locks may be free now: whoever waits for it tries. */
    void kick(List<LockName> freed) {
        queues.values().stream()
                .filter(queue -> !Collections.disjoint(queue.names, freed) && !bell.isBehind(queue.names))
                .forEach(this::attempt);
    }

    /** It is this process's turn with a lock that others want too. */
    void goFirst(LockName name) {
        WaitQueue queue = queues.get(List.of(name));
        if (queue != null) {
            queue.turn.comes();
            attempt(queue);
        }
    }

    /** These locks were really freed here: if another process waits, it goes first. */
    void freed(List<LockName> names, boolean othersWait) {
        bell.freed(names);
        WaitQueue queue = queues.get(names);
        Turn turn = queue != null ? queue.turn : turns.getOrDefault(names, new Turn());
        boolean inLine = bell.keepsOrder(names);
        long at = turn.freed(othersWait, inLine, inLine ? IN_LINE : bell.willRing(names) ? BRIEFLY : STAND_BACK);
        if (queue != null) {
            queue.notBefore(at);
            alarm.setTo(at);
            bell.want(names);
        } else {
            remember(names, turn);
        }
        kick(names);
    }

    /** One has left without a lease. */
    void left(LeaseWaiter waiter) {
        WaitQueue queue = queues.get(waiter.names());
        if (queue != null) {
            cleanUpOrSchedule(queue);
        }
    }

    private void remember(List<LockName> names, Turn turn) {
        if (turns.size() >= MAX_TURNS) {
            turns.values().removeIf(Turn::isOver);
        }
        if (!turn.isOver() && turns.size() < MAX_TURNS) {
            turns.put(names, turn);
        }
    }

    /** Everything that is waited for. */
    Stream<LockName> names() {
        return queues.keySet().stream().flatMap(List::stream);
    }

    /** How many wait for it, alone or together with others. */
    int waitersFor(LockName name) {
        return queues.values().stream()
                .filter(queue -> queue.names.contains(name))
                .mapToInt(WaitQueue::size)
                .sum();
    }

    boolean isEmpty() {
        return queues.isEmpty();
    }

    void failAll(LockException reason) {
        queues.values().forEach(queue -> queue.waiters().forEach(waiter -> waiter.fail(reason)));
        queues.clear();
    }

    private void attempt(WaitQueue queue) {
        LeaseWaiter first = queue.beginAttempt();
        if (first == null) {
            cleanUpOrSchedule(queue);
        } else {
            workers.execute(() -> attempt(queue, first));
        }
    }

    private void attempt(WaitQueue queue, LeaseWaiter first) {
        if (engine.isClosed()) {
            return;
        }
        boolean granted = false;
        try {
            int reserve = queue.reserveFor(first);
            Attempts.Outcome outcome = engine.attempt(queue.names, first.request, reserve);
            granted = outcome.answer().granted();
            if (granted) {
                LeaseHandle lease = engine.granted(queue.names, first.request, outcome);
                queue.attempted(true);
                queue.turn.granted(outcome.answer().wanted() || bell.keepsOrder(queue.names));
                if (reserve > 0) {
                    engine.releases.beginRun(lease);
                }
                if (!first.serve(lease)) {
                    lease.closeUnwanted();
                }
            } else {
                refused(queue, outcome.answer());
            }
        } catch (RuntimeException e) {
            LockException reason = e instanceof LockException known ? known : Attempts.failed(queue.names.get(0), e);
            queue.waiters().forEach(waiter -> waiter.failed(reason));
            queue.failed();
        } finally {
            if (!granted && queue.attempted(false)) {
                attempt(queue);
            } else {
                cleanUpOrSchedule(queue);
            }
        }
    }

    private void refused(WaitQueue queue, Answer answer) {
        LockRow holder = answer.holder();
        if (holder != null && holder.held() && queue.names.size() == 1) {
            look(queue, Map.of(holder.name(), holder));
        } else {
            queue.waiters().forEach(waiter -> waiter.refused(null));
            bell.want(queue.names);
            queue.lookAgain(Long.MAX_VALUE, 0, 0);
        }
    }

    private void cleanUpOrSchedule(WaitQueue queue) {
        if (queue.retireIfEmpty()) {
            remember(queue.names, queue.turn);
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
                due.forEach(queue -> look(queue, rows));
            }
        } catch (RuntimeException e) {
            for (WaitQueue queue : due) {
                LockException reason = e instanceof DatabaseException known
                        ? Attempts.failed(queue.names.get(0), "could not be read", known)
                        : Attempts.failed(queue.names.get(0), e);
                queue.waiters().forEach(waiter -> waiter.failed(reason));
                queue.failed();
            }
        } finally {
            polling.set(false);
            queues.values().forEach(this::cleanUpOrSchedule);
        }
    }

    /** Who has it, until when, and do they know that it is waited for here? If nobody has it, it is tried for. */
    private void look(WaitQueue queue, Map<LockName, LockRow> rows) {
        long holderEnds = 0;
        long fence = 0;
        boolean held = false;
        boolean here = false;
        for (LockName name : queue.names) {
            LockRow row = rows.get(name);
            if (row == null || !row.held()) {
                continue;
            }
            held = true;
            fence = Math.max(fence, row.fence());
            queue.waiters().forEach(waiter -> waiter.refused(row.toData()));
            holderEnds = Math.max(holderEnds, row.remaining().toNanos() + 1_000_000);
            if (engine.holds(row)) {
                here = true;
                continue;
            }
            if (!row.wanted() && !markWanted(name)) {
                // freed between the look and the mark: nobody will notify
                holderEnds = Math.min(holderEnds, CHANGED_POLL);
            }
        }
        if (held) {
            if (!here) {
                bell.want(queue.names);
            }
            queue.lookAgain(
                    holderEnds, here ? LOCAL_HOLDER_POLL : bell.willRing(queue.names) ? NOTIFIED_POLL : 0, fence);
        } else if (bell.isBehind(queue.names) && queue.leavesItToOthers()) {
            queue.lookAgain(Long.MAX_VALUE, NOTIFIED_POLL, 0);
        } else {
            attempt(queue);
        }
    }

    private boolean markWanted(LockName name) {
        try {
            return store.markWanted(name);
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.DEBUG, name + " could not be marked as waited for", e);
            return false;
        }
    }
}
