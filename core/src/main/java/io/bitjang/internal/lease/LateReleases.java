// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Grants that nobody wants any more but that could not be given back, or may yet come into being: each is released again and again
 * until it is gone for certain, at the latest when its lease has passed. Thread-safe.
 */
final class LateReleases {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final long FIRST_PAUSE = Duration.ofMillis(100).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofSeconds(2).toNanos();

    /**
     * One grant.
     *
     * @param heldOnce whether it was surely there: then it is done when the row carries it no more
     * @param notFreeBefore how long after it was taken it must stay taken, in microseconds; 0 for not at all
     */
    private record Entry(List<LockName> names, Deadline until, boolean heldOnce, long notFreeBefore) {}

    private final LockStore store;
    private final Consumer<List<LockName>> freed;
    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicLong pause = new AtomicLong(FIRST_PAUSE);
    private final Alarm alarm;

    LateReleases(LockStore store, Workers workers, Consumer<List<LockName>> freed) {
        this.store = store;
        this.freed = freed;
        this.alarm = new Alarm(workers, () -> workers.execute(this::round));
    }

    /** An attempt that may still be on its way. */
    void add(List<LockName> names, String secret, long micros) {
        add(secret, new Entry(names, Deadline.in(Duration.of(micros, ChronoUnit.MICROS)), false, 0));
    }

    /** A grant that is there but could not be given back. */
    void addHeld(List<LockName> names, String secret, Duration remaining, long notFreeBefore) {
        add(secret, new Entry(names, Deadline.in(remaining), true, notFreeBefore));
    }

    /** Tries each once more, at the end. */
    void lastTry() {
        entries.forEach(this::release);
    }

    private void add(String secret, Entry entry) {
        entries.put(secret, entry);
        pause.set(FIRST_PAUSE);
        alarm.setTo(Ticks.now() + FIRST_PAUSE);
    }

    private void round() {
        lastTry();
        if (!entries.isEmpty()) {
            alarm.setTo(Ticks.now() + pause.getAndUpdate(before -> Math.min(before * 2, LONGEST_PAUSE)));
        }
    }

    private void release(String secret, Entry entry) {
        try {
            boolean all = true;
            for (LockName name : entry.names) {
                all &= released(name, secret, entry);
            }
            if (all) {
                entries.remove(secret);
                freed.accept(entry.names);
            }
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.DEBUG, "A late release failed, it is tried again", e);
        }
        if (entry.until.passed()) {
            entries.remove(secret);
        }
    }

    private boolean released(LockName name, String secret, Entry entry) {
        boolean done = entry.notFreeBefore > 0
                ? store.releaseAt(name, secret, entry.notFreeBefore).isPresent()
                : store.release(name, secret, false).isPresent();
        return done
                || entry.heldOnce
                        && store.read(name).filter(row -> row.isOf(secret)).isEmpty();
    }
}
