// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.ListedRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Log;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Grants that nobody wants any more but that could not be given back, or may yet come into being: each is released again and again
 * until it is gone for certain, at the latest when its lease has passed. A lock that its owner has taken again since is left alone.
 * One round runs at a time, with one statement for all that are to be released. Thread-safe.
 */
final class LateReleases {

    private static final long FIRST_PAUSE = Duration.ofMillis(100).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofSeconds(2).toNanos();

    /**
     * How long a grant is tried for at most: a request that has not arrived by then never will, and whoever locks a row this long
     * is not waited for.
     */
    private static final Duration LONGEST = Duration.ofHours(1);

    /** How long the thread that closes goes on trying for rows that are locked. */
    private static final Duration AFTER_CLOSING = Duration.ofSeconds(10);

    private static final long CLOSING_PAUSE = 30; // milliseconds

    /** How often, and how long at least, closing tries a database that fails: a network may be away for a moment. */
    private static final int FAILURES = 3;

    private static final Duration FAILING = Duration.ofMillis(500);
    private static final int MOST_NAMED = 10;
    private static final int MOST = 10_000;
    private static final int BATCH = 1000;

    /**
     * One grant that is to be released.
     *
     * @param heldOnce whether the grant was surely there: then it is done when the row carries it no more
     * @param notFreeBefore how long after it was taken it must stay taken, in microseconds; 0 for not at all
     */
    private record Entry(List<LockName> names, String secret, Deadline until, boolean heldOnce, long notFreeBefore) {}

    private final Driver driver;
    private final LockStore store;
    private final Ticker ticker;
    private final Consumer<List<LockName>> freed;
    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicLong pause = new AtomicLong(FIRST_PAUSE);
    private final AtomicBoolean running = new AtomicBoolean();
    private final Alarm alarm;
    private final AtomicReference<@Nullable CountDownLatch> closing = new AtomicReference<>();
    private volatile boolean drained;

    /** The secrets of the grants that were given up at closing. */
    private volatile Set<String> givenUp = Set.of();

    LateReleases(Driver driver, LockStore store, Consumer<List<LockName>> freed) {
        this.driver = driver;
        this.store = store;
        this.ticker = driver.ticker();
        this.freed = freed;
        this.alarm = driver.alarm(this::startRound);
    }

    /** Adds an attempt that may still be on its way to the database. */
    void add(List<LockName> names, String secret, long micros) {
        if (entries.size() >= MOST) {
            Log.warn(names + ": too many attempts have no outcome, it ends by itself");
            return;
        }
        put(names, secret, Duration.of(micros, ChronoUnit.MICROS), false, 0);
        wake();
    }

    /** Adds a grant that is there but could not be given back. */
    void addHeld(List<LockName> names, String secret, Duration remaining, long notFreeBefore) {
        keep(names, secret, remaining, notFreeBefore);
        wake();
    }

    /** Adds a grant that is there, for {@link #drain} to give back. */
    void keep(List<LockName> names, String secret, Duration remaining, long notFreeBefore) {
        put(names, secret, remaining, true, notFreeBefore);
    }

    /** Gives back a grant that came too late for {@link #drain}, at once: this instance is about to end, and its threads with it. */
    Plan<@Nullable Void> giveBackNow(List<LockName> names, String secret, Duration remaining) {
        keep(names, secret, remaining, 0);
        return tryAll().ended((answered, failure) -> {
            if (entries.containsKey(secret)) {
                wake();
            }
        });
    }

    private void put(List<LockName> names, String secret, Duration lasts, boolean heldOnce, long notFreeBefore) {
        Deadline until = ticker.in(lasts.compareTo(LONGEST) < 0 ? lasts : LONGEST);
        entries.put(secret, new Entry(names, secret, until, heldOnce, notFreeBefore));
    }

    /**
     * Sets the alarm for the next round, or starts the closing if the rounds have ended. The entry is there before this looks
     * whether they have; {@link #drain} ends them before it looks for entries.
     */
    private void wake() {
        if (drained) {
            startClosing();
        } else {
            pause.set(FIRST_PAUSE);
            alarm.setTo(ticker.now() + FIRST_PAUSE);
        }
    }

    /**
     * Ends the rounds, because this instance is closed: tries until all is given back, and waits for that until the given end at
     * most. A database that does not answer is given up. Rows that a transaction of the application's has locked are tried for a
     * while longer, in the background.
     */
    void drain(Deadline end) {
        drained = true;
        if (entries.isEmpty()) {
            return;
        }
        end.await(startClosing());
        List<LockName> left = heldOnce().flatMap(entry -> entry.names.stream()).toList();
        if (!left.isEmpty()) {
            Log.warn("Closed before " + left.size() + " locks could be given back, they end by themselves: "
                    + left.stream().limit(MOST_NAMED).toList() + (left.size() > MOST_NAMED ? " ..." : ""));
        }
    }

    /**
     * Starts the one thread that tries for those who close and for those who come too late for that, unless it runs already;
     * returns the latch that opens when it ends.
     */
    private CountDownLatch startClosing() {
        CountDownLatch mine = new CountDownLatch(1);
        @Nullable CountDownLatch alive = closing.compareAndExchange(null, mine);
        if (alive != null) {
            return alive;
        }
        Plan<Boolean> work = Plan.later(() -> untilGivenBack(ticker.in(AFTER_CLOSING), 0, Deadline.NEVER));
        boolean started = driver.start("bitjang-closing", work.ended((all, failure) -> {
            closing.set(null);
            mine.countDown();
            if (failure != null) {
                Log.warn("Locks could not be given back, they end by themselves", failure);
            }
            // added after the last look, by one who has found this thread alive; what was given up is not tried for
            // ever
            if (failure == null && heldOnce().anyMatch(entry -> !givenUp.contains(entry.secret))) {
                startClosing();
            }
        }));
        if (!started) {
            closing.set(null);
            driver.run(tryAll());
            mine.countDown();
        }
        return mine;
    }

    private Stream<Entry> heldOnce() {
        return entries.values().stream().filter(Entry::heldOnce);
    }

    /**
     * Tries until all grants are given back (true) or given up (false).
     *
     * @param failures how often in a row the database has failed
     * @param failing until when it may fail
     */
    private Plan<Boolean> untilGivenBack(Deadline longest, int failures, Deadline failing) {
        return tryAll().then(answered -> {
            int now = answered ? 0 : failures + 1;
            Deadline until = now == 1 ? ticker.in(FAILING) : failing;
            if (heldOnce().findAny().isEmpty()) {
                return Plan.of(true);
            }
            if (!longest.passed() && (now < FAILURES || !until.passed())) {
                return new Plan.Pause(CLOSING_PAUSE).deaf().then(paused -> untilGivenBack(longest, now, until));
            }
            givenUp = heldOnce().map(Entry::secret).collect(Collectors.toSet());
            return Plan.of(false);
        });
    }

    private void startRound() {
        if (!drained && running.compareAndSet(false, true)) {
            driver.start(tryAll().ended((answered, failure) -> {
                running.set(false);
                if (!entries.isEmpty()) {
                    alarm.setTo(ticker.now() + pause.getAndUpdate(before -> Math.min(before * 2, LONGEST_PAUSE)));
                }
                if (failure != null) {
                    Log.warn("Late releases failed, they are tried again", failure);
                }
            }));
        }
    }

    /** Tries to release each grant once more; false if the database failed. */
    Plan<Boolean> tryAll() {
        return Plan.later(() -> {
            List<Entry> all = List.copyOf(entries.values());
            List<Entry> plain =
                    all.stream().filter(entry -> entry.notFreeBefore == 0).toList();
            return releaseFrom(plain, 0)
                    .then(released -> Plan.all(
                            all.stream()
                                    .filter(entry -> entry.notFreeBefore > 0)
                                    .toList(),
                            this::leaveTaken))
                    .ifFailed(e -> {
                        Log.debug("Late releases failed, they are tried again", e);
                        return Plan.of(false);
                    })
                    .map(answered -> {
                        all.stream()
                                .filter(entry -> entry.until.passed())
                                .forEach(entry -> entries.remove(entry.secret));
                        return answered;
                    });
        });
    }

    private Plan<Boolean> releaseFrom(List<Entry> entries, int from) {
        return from < entries.size()
                ? Plan.halved(entries.subList(from, Math.min(entries.size(), from + BATCH)), this::release)
                        .then(released -> releaseFrom(entries, from + BATCH))
                : Plan.of(true);
    }

    private Plan<Boolean> release(List<Entry> batch) {
        List<ListedRow> rows = new ArrayList<>();
        batch.forEach(entry -> entry.names.forEach(name -> rows.add(new ListedRow(name, entry.secret, 0))));
        rows.sort(Comparator.comparing(ListedRow::name));
        return releaseWhatIsNotLocked(rows).then(released -> {
            if (released == rows.size()) {
                batch.forEach(this::done);
                return Plan.of(true);
            }
            if (released > 0) {
                freed.accept(rows.stream().map(ListedRow::name).toList());
            }
            List<Entry> heldOnce = batch.stream().filter(Entry::heldOnce).toList();
            return heldOnce.isEmpty() ? Plan.of(true) : forgetWhatIsGone(heldOnce);
        });
    }

    private Plan<Boolean> forgetWhatIsGone(List<Entry> entries) {
        return store.read(entries.stream().flatMap(entry -> entry.names.stream()))
                .map(present -> {
                    entries.stream()
                            .filter(entry -> present.values().stream().noneMatch(row -> row.isOf(entry.secret)))
                            .forEach(this::done);
                    return true;
                });
    }

    /** Releases the rows in one statement; where one locked row fails it as a whole, in two halves. */
    private Plan<Integer> releaseWhatIsNotLocked(List<ListedRow> rows) {
        int half = rows.size() / 2;
        return rows.isEmpty()
                ? Plan.of(0)
                : store.releaseAll(rows).ifFailed(e -> {
                    if (!e.isLocked()) {
                        return Plan.failed(e);
                    }
                    return half == 0
                            ? Plan.of(0)
                            : releaseWhatIsNotLocked(rows.subList(0, half))
                                    .then(first -> releaseWhatIsNotLocked(rows.subList(half, rows.size()))
                                            .map(second -> first + second));
                });
    }

    /** Lets a lock that must stay taken for a while expire at the right time. */
    private Plan<Boolean> leaveTaken(Entry entry) {
        return Plan.all(entry.names, name -> leaveTaken(name, entry)).map(all -> {
            if (all) {
                done(entry);
            }
            return true;
        });
    }

    private Plan<Boolean> leaveTaken(LockName name, Entry entry) {
        return store.releaseAt(name, entry.secret, entry.notFreeBefore)
                .ifFailed(e -> e.isLocked() ? Plan.of(OptionalLong.empty()) : Plan.failed(e))
                .then(left -> left.isPresent()
                        ? Plan.of(true)
                        : store.read(name)
                                .map(row -> row.filter(found -> found.isOf(entry.secret))
                                        .isEmpty()));
    }

    private void done(Entry entry) {
        entries.remove(entry.secret);
        freed.accept(entry.names);
    }
}
