// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Deadline;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Grants that nobody wants any more but that could not be given back, or may yet come into being: each is released again and again
 * until it is gone for certain, at the latest when its lease has passed. Thread-safe.
 */
final class LateReleases {

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(2);

    /** One grant; released means that the row was seen to carry it no more after it was surely there. */
    private record Entry(List<LockName> names, Deadline until, boolean onlyUntilReleased) {}

    private final LockStore store;
    private final Workers workers;
    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicBoolean running = new AtomicBoolean();

    LateReleases(LockStore store, Workers workers) {
        this.store = store;
        this.workers = workers;
    }

    /** An attempt that may still be on its way. */
    void add(List<LockName> names, String secret, long micros) {
        entries.put(secret, new Entry(names, Deadline.in(Duration.of(micros, ChronoUnit.MICROS)), false));
        start(FIRST_PAUSE);
    }

    /** A grant that is there but could not be given back. */
    void addHeld(List<LockName> names, String secret, Duration remaining) {
        entries.put(secret, new Entry(names, Deadline.in(remaining), true));
        start(FIRST_PAUSE);
    }

    /** It turned out that someone wants this one. */
    void keep(String secret) {
        entries.remove(secret);
    }

    /** Tries each once more, at the end. */
    void lastTry() {
        entries.forEach(this::release);
    }

    private void start(long pause) {
        if (!entries.isEmpty() && running.compareAndSet(false, true)) {
            workers.after(
                    pause,
                    () -> workers.execute(() -> {
                        entries.forEach(this::release);
                        running.set(false);
                        start(Math.min(pause * 2, LONGEST_PAUSE));
                    }));
        }
    }

    private void release(String secret, Entry entry) {
        try {
            boolean all = true;
            for (LockName name : entry.names) {
                all &= store.release(name, secret).isPresent() || goneFor(entry, name, secret);
            }
            if (all) {
                entries.remove(secret);
            }
        } catch (DatabaseException e) {
            // the next round tries again
        }
        if (entry.until.passed()) {
            entries.remove(secret);
        }
    }

    private boolean goneFor(Entry entry, LockName name, String secret) {
        return entry.onlyUntilReleased
                && store.read(name).filter(row -> row.isOf(secret)).isEmpty();
    }
}
