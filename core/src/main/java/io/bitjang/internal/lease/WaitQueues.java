// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Log;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All queues of an instance, and the one poller that serves them: it reads the rows of all names that are waited for in one
 * statement, and makes an attempt only where the lock looks free. Where the database can block or notify, a {@link WakeUps} comes
 * first and the poll is the safety net. Callers never wait on the database itself, so no deadline depends on it. Thread-safe.
 */
final class WaitQueues implements WakeUps.Sleepers {

    private static final long LOCAL_HOLDER_POLL = Duration.ofSeconds(1).toNanos();
    private static final long NOTIFIED_POLL = Duration.ofMillis(500).toNanos();
    private static final long CHANGED_POLL = Duration.ofMillis(5).toNanos();
    private static final int MAX_SHARES = 1000;

    private final Instance instance;
    private final LockStore store;
    private final Ticker ticker;
    private final HeldLeases held;
    private final Grants grants;
    private final PassingOn passingOn;
    private final WakeUps wakeUps;
    private final Map<List<LockName>, WaitQueue> queues = new ConcurrentHashMap<>();

    /** The fair shares of queues that have emptied, while there is something to remember. */
    private final Map<List<LockName>, FairShare> shares = new ConcurrentHashMap<>();

    private final AtomicBoolean polling = new AtomicBoolean();
    private final Alarm alarm;

    /** Makes queues without waiters; the source makes what wakes them. */
    WaitQueues(
            Instance instance,
            HeldLeases held,
            Grants grants,
            PassingOn passingOn,
            Function<WakeUps.Sleepers, WakeUps> source) {
        this.instance = instance;
        this.store = instance.store;
        this.ticker = instance.ticker;
        this.held = held;
        this.grants = grants;
        this.passingOn = passingOn;
        this.alarm = instance.driver.alarm(this::startPolling);
        this.wakeUps = source.apply(this);
    }

    /**
     * Puts a waiter into its queue. The first in a queue gets an attempt at once, unless a lease of this process has the lock:
     * that lease looks at the queue after it has stopped counting as held here, so one of the two sees the other.
     */
    void enqueue(LeaseWaiter waiter) {
        WaitQueue queue = queues.computeIfAbsent(waiter.names(), this::newQueue);
        while (!queue.add(waiter)) {
            queues.remove(waiter.names(), queue);
            queue = queues.computeIfAbsent(waiter.names(), this::newQueue);
        }
        LeaseWaiter first = queue.next();
        boolean known = first != null && first != waiter && waiter.learnFrom(first);
        if (held.holds(waiter.names())) {
            waiter.refused(null);
            queue.lookInTimeFor(waiter, known, LOCAL_HOLDER_POLL);
            if (!held.holds(waiter.names())) {
                // freed meanwhile, perhaps to another process: that may have been known here, and was overwritten
                queue.lookAgain(Long.MAX_VALUE, 0, 0);
            }
            cleanUpOrSchedule(queue);
        } else if (queue.isFirst(waiter)) {
            if (wakeUps.keepsOrder(waiter.names()) && wakeUps.want(waiter.names())) {
                queue.notBefore(ticker.now() + NOTIFIED_POLL);
                cleanUpOrSchedule(queue);
            } else {
                attempt(queue);
            }
        }
        // this instance may have been closed while the waiter came
        if (instance.hasEnded()) {
            waiter.fail(Instance.ending());
        }
    }

    private WaitQueue newQueue(List<LockName> names) {
        @Nullable FairShare remembered = shares.remove(names);
        return new WaitQueue(ticker, names, remembered == null ? new FairShare(ticker) : remembered);
    }

    /** Returns the queue of those who wait for just these locks; null if there is none. */
    @Nullable
    WaitQueue queueFor(List<LockName> names) {
        return queues.get(names);
    }

    /** Tells whether nobody here waits for these locks, and nobody elsewhere did a moment ago. */
    boolean isQuiet(List<LockName> names) {
        FairShare share = shares.get(names);
        return queues.get(names) == null && (share == null || share.isOver()) && !wakeUps.keepsOrder(names);
    }

    /** Tells whether another queue of this process waits for one of this queue's locks. */
    boolean wantedByOtherQueues(WaitQueue queue) {
        return queues.values().stream()
                .anyMatch(other -> other != queue && !Collections.disjoint(other.names, queue.names));
    }

    /** Lets whoever waits for one of these locks try, because it may be free now; not where another process goes first. */
    @Override
    public void wake(List<LockName> freed) {
        queues.values().stream()
                .filter(queue -> !Collections.disjoint(queue.names, freed) && !wakeUps.isBehind(queue.names))
                .forEach(this::attempt);
    }

    /** Lets those who wait here for a lock that others want too try at once: it is this process's turn. */
    @Override
    public void goFirst(LockName name) {
        store.believeFree(name);
        WaitQueue queue = queues.get(List.of(name));
        if (queue != null) {
            queue.share.comes();
            attempt(queue);
        }
    }

    /** Notes that these locks were really freed here: if another process waits, it goes first. */
    void freed(List<LockName> names, boolean wanted) {
        wakeUps.freed(names);
        WaitQueue queue = queues.get(names);
        FairShare share = queue != null ? queue.share : shares.getOrDefault(names, new FairShare(ticker));
        long at = share.freed(wanted, wakeUps.keepsOrder(names), queue != null, wakeUps.willRing(names, ticker.now()));
        if (queue != null) {
            queue.notBefore(at);
            alarm.setTo(at);
            wakeUps.want(names);
        } else {
            remember(names, share);
        }
        wake(names);
    }

    /** Cleans up after a waiter who has left, with a lease or without. */
    void left(LeaseWaiter waiter) {
        WaitQueue queue = queues.get(waiter.names());
        if (queue != null) {
            cleanUpOrSchedule(queue);
        }
    }

    private void remember(List<LockName> names, FairShare share) {
        if (shares.size() >= MAX_SHARES) {
            shares.values().removeIf(FairShare::isOver);
        }
        if (!share.isOver() && shares.size() < MAX_SHARES) {
            shares.put(names, share);
        }
    }

    /** Lists the locks that are waited for. */
    Stream<LockName> names() {
        return queues.keySet().stream().flatMap(List::stream);
    }

    /** Counts those who wait for a lock, alone or together with other locks. */
    int waitersFor(LockName name) {
        return queues.values().stream()
                .filter(queue -> queue.names.contains(name))
                .mapToInt(WaitQueue::size)
                .sum();
    }

    @Override
    public boolean areThere() {
        return !queues.isEmpty();
    }

    @Override
    public boolean waitFor(LockName name) {
        return queueFor(List.of(name)) != null;
    }

    @Override
    public boolean have(LockName name) {
        return held.holds(List.of(name));
    }

    void failAll(LockException reason) {
        queues.values().forEach(queue -> queue.waiters().forEach(waiter -> waiter.fail(reason)));
        queues.clear();
    }

    /** Ends the wake-ups, and waits for that until the given end at most. */
    void close(Deadline end) {
        wakeUps.close(end);
    }

    private void attempt(WaitQueue queue) {
        LeaseWaiter first = queue.beginAttempt();
        if (first == null) {
            cleanUpOrSchedule(queue);
        } else {
            instance.driver.start(
                    attempt(queue, first).ended((granted, failure) -> attempted(queue, granted, failure)));
        }
    }

    /** Tries for the locks of a queue on behalf of its first waiter; returns whether they were granted. */
    private Plan<Boolean> attempt(WaitQueue queue, LeaseWaiter first) {
        return Plan.later(() -> {
            int reserve = queue.reserveFor(first);
            return grants.attempt(queue.names, first.request, reserve)
                    .then(outcome -> outcome.answer().granted()
                            ? serve(queue, first, outcome, reserve)
                            : refused(queue, outcome).map(looked -> false));
        });
    }

    private Plan<Boolean> serve(WaitQueue queue, LeaseWaiter first, Grants.Outcome outcome, int reserve) {
        return grants.granted(queue.names, first.request, outcome).then(lease -> {
            queue.attempted(true);
            queue.share.granted(outcome.answer().wanted() || wakeUps.keepsOrder(queue.names));
            if (reserve > 0) {
                passingOn.begin(lease);
            }
            return first.serve(lease)
                    ? Plan.of(true)
                    : lease.closingUnwanted().map(closed -> true).otherwise(e -> {
                        Log.warn("A lease that nobody waited for could not be closed", e);
                        return Plan.of(true);
                    });
        });
    }

    private void attempted(WaitQueue queue, @Nullable Boolean granted, @Nullable Throwable failure) {
        if (instance.hasEnded()) {
            return;
        }
        try {
            if (failure != null) {
                failed(queue, failure, "could not be taken");
            }
        } finally {
            // whatever was thrown: a queue whose attempt never ends is not served any more
            if (!Boolean.TRUE.equals(granted) && queue.attempted(false)) {
                attempt(queue);
            } else {
                cleanUpOrSchedule(queue);
            }
        }
        if (failure instanceof Error) {
            Log.warn("An attempt failed", failure);
        }
    }

    private static void failed(WaitQueue queue, Throwable e, String what) {
        LockName name = queue.names.get(0);
        LockException reason = e instanceof LockException known
                ? known
                : e instanceof DatabaseException database ? database.toFailure(name, what) : Grants.failed(name, e);
        queue.waiters().forEach(waiter -> waiter.failed(reason));
        queue.failed();
    }

    private Plan<@Nullable Void> refused(WaitQueue queue, Grants.Outcome outcome) {
        LockRow holder = outcome.answer().holder();
        if (holder != null && holder.held() && queue.names.size() == 1) {
            return look(queue, Map.of(holder.name(), holder), outcome.sentAt().ticks(), () -> false);
        }
        queue.waiters().forEach(waiter -> waiter.refused(null));
        wakeUps.want(queue.names);
        queue.lookAgain(Long.MAX_VALUE, 0, 0);
        return Plan.DONE;
    }

    private void cleanUpOrSchedule(WaitQueue queue) {
        if (queue.retireIfEmpty()) {
            remember(queue.names, queue.share);
            queues.remove(queue.names, queue);
            return;
        }
        long at = queue.nextPoll();
        if (at != Long.MAX_VALUE) {
            alarm.setTo(at);
        }
    }

    private void startPolling() {
        wakeUps.giveUpIfSilent();
        if (polling.compareAndSet(false, true)) {
            instance.driver.start(Plan.later(this::poll).ended((looked, failure) -> {
                polling.set(false);
                queues.values().forEach(this::cleanUpOrSchedule);
                if (failure != null) {
                    Log.warn("A look at the locks that are waited for failed", failure);
                }
            }));
        }
    }

    /** A queue that is to be looked at, and how often it was before. */
    private record Due(WaitQueue queue, int looks) {

        boolean late() {
            return looks != queue.looks();
        }
    }

    private Plan<Boolean> poll() {
        long now = ticker.now();
        List<Due> due = queues.values().stream()
                .filter(queue -> queue.nextPoll() != Long.MAX_VALUE && queue.nextPoll() - now <= 0)
                .map(queue -> new Due(queue, queue.looks()))
                .toList();
        if (due.isEmpty()) {
            return Plan.of(true);
        }
        return store.read(due.stream().flatMap(each -> each.queue.names.stream()))
                .then(rows -> Plan.all(
                        due, each -> look(each.queue, rows, now, each::late).map(looked -> true)))
                .otherwise(e -> {
                    due.forEach(each -> failed(each.queue, e, "could not be read"));
                    return Plan.of(true);
                });
    }

    /**
     * Looks who had a queue's locks, until when, and whether they know that someone waits; if nobody has them, tries for them. A
     * look that was overtaken by an attempt's does not say when to look again: that one knows better.
     */
    private Plan<@Nullable Void> look(WaitQueue queue, Map<LockName, LockRow> rows, long at, BooleanSupplier late) {
        List<LockRow> rowsHeld = queue.names.stream()
                .map(rows::get)
                .filter(row -> row != null && row.held())
                .toList();
        if (rowsHeld.isEmpty()) {
            if (wakeUps.isBehind(queue.names) && queue.leaveToOthers()) {
                queue.lookAgain(Long.MAX_VALUE, NOTIFIED_POLL, 0);
            } else {
                attempt(queue);
            }
            return Plan.DONE;
        }
        rowsHeld.forEach(row -> queue.waiters().forEach(waiter -> waiter.refused(row.toData())));
        boolean here = rowsHeld.stream().anyMatch(held::holds);
        return Plan.all(rowsHeld, row -> held.holds(row) || row.wanted() ? Plan.of(true) : markWanted(row.name()))
                .last(known -> {
                    if (late.getAsBoolean()) {
                        return;
                    }
                    if (!here) {
                        wakeUps.want(queue.names);
                    }
                    long fence =
                            rowsHeld.stream().mapToLong(LockRow::fence).max().orElseThrow();
                    long ends = rowsHeld.stream()
                            .mapToLong(row -> row.remaining().toNanos() + 1_000_000)
                            .max()
                            .orElseThrow();
                    queue.lookAgain(
                            // freed between the look and the mark, so nobody notifies; or a guard has it locked
                            known || queue.hasSeen(fence) ? ends : Math.min(ends, CHANGED_POLL),
                            here ? LOCAL_HOLDER_POLL : known && wakeUps.willRing(queue.names, at) ? NOTIFIED_POLL : 0,
                            fence);
                });
    }

    private Plan<Boolean> markWanted(LockName name) {
        return store.markWanted(name).ifFailed(e -> {
            Log.debug(name + " could not be marked as waited for", e);
            return Plan.of(false);
        });
    }
}
