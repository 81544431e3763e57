// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.Listed;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Grants that nobody wants any more but that could not be given back, or may yet come into being: each is released again and again
 * until it is gone for certain, at the latest when its lease has passed. A lock that its owner has taken again since is left alone.
 * One round runs at a time, with one statement for all that are to be released. Thread-safe.
 */
final class LateReleases {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final long FIRST_PAUSE = Duration.ofMillis(100).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofSeconds(2).toNanos();

    /** A request that has not arrived after this long never will; and whoever locks a row this long is not waited for. */
    private static final Duration LONGEST = Duration.ofHours(1);

    /** How long it goes on after the end for rows that are locked. */
    private static final Duration AFTER_CLOSING = Duration.ofSeconds(10);

    private static final long CLOSING_PAUSE = Duration.ofMillis(20).toNanos();
    private static final int MOST_FAILURES = 3;
    private static final int MOST_NAMED = 10;
    private static final int MOST = 10_000;
    private static final int BATCH = 1000;

    /**
     * One grant.
     *
     * @param heldOnce whether it was surely there: then it is done when the row carries it no more
     * @param notFreeBefore how long after it was taken it must stay taken, in microseconds; 0 for not at all
     */
    private record Entry(List<LockName> names, String secret, Deadline until, boolean heldOnce, long notFreeBefore) {}

    private final LockStore store;
    private final Workers workers;
    private final Consumer<List<LockName>> freed;
    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicLong pause = new AtomicLong(FIRST_PAUSE);
    private final AtomicBoolean running = new AtomicBoolean();
    private final Alarm alarm;
    private final AtomicReference<@Nullable CountDownLatch> closing = new AtomicReference<>();
    private volatile boolean drained;

    LateReleases(LockStore store, Workers workers, Consumer<List<LockName>> freed) {
        this.store = store;
        this.workers = workers;
        this.freed = freed;
        this.alarm = new Alarm(workers, this::startRound);
    }

    /** An attempt that may still be on its way. */
    void add(List<LockName> names, String secret, long micros) {
        if (entries.size() >= MOST) {
            LOG.log(System.Logger.Level.WARNING, names + ": too many attempts have no outcome, it ends by itself");
            return;
        }
        put(names, secret, Duration.of(micros, ChronoUnit.MICROS), false, 0);
        wake();
    }

    /** A grant that is there but could not be given back. */
    void addHeld(List<LockName> names, String secret, Duration remaining, long notFreeBefore) {
        keep(names, secret, remaining, notFreeBefore);
        wake();
    }

    /** The same, for {@link #drain} to give back. */
    void keep(List<LockName> names, String secret, Duration remaining, long notFreeBefore) {
        put(names, secret, remaining, true, notFreeBefore);
    }

    private void put(List<LockName> names, String secret, Duration lasts, boolean heldOnce, long notFreeBefore) {
        Deadline until = Deadline.in(lasts.compareTo(LONGEST) < 0 ? lasts : LONGEST);
        entries.put(secret, new Entry(names, secret, until, heldOnce, notFreeBefore));
    }

    /** The entry is there before this looks whether the rounds have ended; {@link #drain} ends them before it looks for entries. */
    private void wake() {
        if (drained) {
            startClosing();
        } else {
            pause.set(FIRST_PAUSE);
            alarm.setTo(Ticks.now() + FIRST_PAUSE);
        }
    }

    /**
     * The end of this instance: tries until all is given back, and waits for that, but not longer than until then. A database that does
     * not answer is given up. Rows that a transaction of the application's has locked are tried for a while longer, in the background.
     */
    void drain(Deadline end) {
        drained = true;
        if (entries.isEmpty()) {
            return;
        }
        Ticks.await(startClosing(), end);
        List<LockName> left = heldOnce().flatMap(entry -> entry.names.stream()).toList();
        if (!left.isEmpty()) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Closed before " + left.size() + " locks could be given back, they end by themselves: "
                            + left.stream().limit(MOST_NAMED).toList() + (left.size() > MOST_NAMED ? " ..." : ""));
        }
    }

    /** One thread at a time tries, for those who close and for those who come too late for that. Answers what opens when it ends. */
    private CountDownLatch startClosing() {
        CountDownLatch mine = new CountDownLatch(1);
        @Nullable CountDownLatch alive = closing.compareAndExchange(null, mine);
        if (alive != null) {
            return alive;
        }
        Runnable work = () -> {
            boolean again = false;
            try {
                again = untilGivenBack();
            } finally {
                closing.set(null);
                mine.countDown();
            }
            if (again && heldOnce().findAny().isPresent()) {
                // added after the last look, by one who has found this thread alive
                startClosing();
            }
        };
        if (Workers.start("bitjang-closing", work) == null) {
            closing.set(null);
            tryAll();
            mine.countDown();
        }
        return mine;
    }

    private Stream<Entry> heldOnce() {
        return entries.values().stream().filter(Entry::heldOnce);
    }

    /** Answers whether all was given back; otherwise it was given up. */
    private boolean untilGivenBack() {
        Deadline longest = Deadline.in(AFTER_CLOSING);
        int failures = 0;
        do {
            failures = tryAll() ? 0 : failures + 1;
            if (heldOnce().findAny().isEmpty()) {
                return true;
            }
            Ticks.park(CLOSING_PAUSE);
        } while (failures < MOST_FAILURES && !longest.passed());
        return false;
    }

    private void startRound() {
        if (!drained && running.compareAndSet(false, true)) {
            workers.execute(this::round);
        }
    }

    private void round() {
        try {
            tryAll();
        } finally {
            running.set(false);
            if (!entries.isEmpty()) {
                alarm.setTo(Ticks.now() + pause.getAndUpdate(before -> Math.min(before * 2, LONGEST_PAUSE)));
            }
        }
    }

    /** Tries each once more; false if the database failed. */
    boolean tryAll() {
        boolean answered = true;
        List<Entry> all = List.copyOf(entries.values());
        try {
            List<Entry> plain =
                    all.stream().filter(entry -> entry.notFreeBefore == 0).toList();
            for (int from = 0; from < plain.size(); from += BATCH) {
                release(plain.subList(from, Math.min(plain.size(), from + BATCH)));
            }
            all.stream().filter(entry -> entry.notFreeBefore > 0).forEach(this::leaveTaken);
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.DEBUG, "Late releases failed, they are tried again", e);
            answered = false;
        }
        all.stream().filter(entry -> entry.until.passed()).forEach(entry -> entries.remove(entry.secret));
        return answered;
    }

    private void release(List<Entry> batch) {
        List<Listed> rows = new ArrayList<>();
        batch.forEach(entry -> entry.names.forEach(name -> rows.add(new Listed(name, entry.secret, 0))));
        rows.sort(Comparator.comparing(Listed::name));
        int released = releaseWhatIsNotLocked(rows);
        if (released == rows.size()) {
            batch.forEach(this::done);
            return;
        }
        if (released > 0) {
            freed.accept(rows.stream().map(Listed::name).toList());
        }
        List<Entry> heldOnce = batch.stream().filter(Entry::heldOnce).toList();
        if (!heldOnce.isEmpty()) {
            Map<LockName, LockRow> present = store.read(heldOnce.stream()
                    .flatMap(entry -> entry.names.stream())
                    .distinct()
                    .toList());
            heldOnce.stream()
                    .filter(entry -> entry.names.stream().noneMatch(name -> carries(present, name, entry)))
                    .forEach(this::done);
        }
    }

    private static boolean carries(Map<LockName, LockRow> rows, LockName name, Entry entry) {
        LockRow row = rows.get(name);
        return row != null && row.isOf(entry.secret);
    }

    /** In one statement; where one locked row fails it as a whole, in two halves. */
    private int releaseWhatIsNotLocked(List<Listed> rows) {
        try {
            return store.releaseAll(rows);
        } catch (DatabaseException e) {
            if (!isLocked(e)) {
                throw e;
            }
            if (rows.size() == 1) {
                return 0;
            }
            int half = rows.size() / 2;
            return releaseWhatIsNotLocked(rows.subList(0, half))
                    + releaseWhatIsNotLocked(rows.subList(half, rows.size()));
        }
    }

    /** It may not be free yet: it is left to expire at the right time. */
    private void leaveTaken(Entry entry) {
        boolean all = true;
        for (LockName name : entry.names) {
            all &= leftTaken(name, entry)
                    || store.read(name).filter(row -> row.isOf(entry.secret)).isEmpty();
        }
        if (all) {
            done(entry);
        }
    }

    private boolean leftTaken(LockName name, Entry entry) {
        try {
            return store.releaseAt(name, entry.secret, entry.notFreeBefore).isPresent();
        } catch (DatabaseException e) {
            if (isLocked(e)) {
                return false;
            }
            throw e;
        }
    }

    private static boolean isLocked(DatabaseException e) {
        return e.meaning() == Meaning.BUSY || e.meaning() == Meaning.REPEAT;
    }

    private void done(Entry entry) {
        entries.remove(entry.secret);
        freed.accept(entry.names);
    }
}
