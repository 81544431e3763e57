// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.work.Log;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Wakes those who wait where the database can block: processes that wait for the same lock stand in line for its gate, which is a
 * session lock. The one that has the gate tries for the lock, polls for it if need be, and keeps the gate for a moment once it
 * has the lock; so the others sleep in the database, in the order of their arrival, until the lock is freed.
 *
 * <p>The line serves one lock at a time, on a thread and a connection that exist only while someone waits or has just waited; the
 * other locks are left to another source of wake-ups. The line decides nothing: a process that loses a gate, or never gets to
 * one, polls. Thread-safe.
 */
final class ProcessLine implements WakeUps {

    /** How long the connection is kept when nobody waits. */
    private static final Duration LINGER = Duration.ofSeconds(3);

    /** How long the server is asked to wait at a time. */
    private static final Duration SLICE = Duration.ofSeconds(5);

    /** How long a statement may go without an answer before the connection is cut: a slice and two seconds more. */
    private static final Duration SILENCE = SLICE.plusSeconds(2);

    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);
    private static final Duration PAUSE_AFTER_REFUSAL = Duration.ofHours(1);
    private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();

    /** How often a holder looks before it gives up the gate, after two seconds: anyone who waits longer may as well poll. */
    private static final int MOST_LOOKS = 20;

    private final Workers workers;
    private final SessionStore store;
    private final Sleepers sleepers;
    private final WakeUps others;
    private final AtomicBoolean running = new AtomicBoolean();
    private final AtomicReference<@Nullable LockName> next = new AtomicReference<>();
    private volatile @Nullable LockName last;
    private volatile @Nullable LockName standsFor;
    private volatile @Nullable LockName passedFor;
    private volatile @Nullable SessionLink link;
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /** Until when nobody stands in line after a failure; a test does not wait for that. */
    volatile Deadline retry;

    ProcessLine(Workers workers, SessionStore store, Sleepers sleepers, WakeUps others) {
        this.workers = workers;
        this.retry = workers.ticker().in(Duration.ZERO);
        this.store = store;
        this.sleepers = sleepers;
        this.others = others;
    }

    @Override
    public boolean want(List<LockName> names) {
        LockName name = names.get(0);
        if (isBehind(names)) {
            return true;
        }
        boolean mayStand = names.size() == 1 && !closed && retry.passed() && standsFor == null && passedFor == null;
        if (!mayStand || !next.compareAndSet(null, name) && !name.equals(next.get())) {
            // also for the first in line: whoever has the lock may never have stood in line
            others.want(names);
            return false;
        }
        begin();
        workers.ticker().unpark(thread);
        return true;
    }

    private void begin() {
        if (running.compareAndSet(false, true)) {
            thread = workers.start("bitjang-gate", this::run);
            if (thread == null) {
                retry = workers.ticker().in(PAUSE_AFTER_FAILURE);
                next.set(null);
                running.set(false);
            }
        }
    }

    @Override
    public boolean willRing(List<LockName> names, long since) {
        return others.willRing(names, since) || isBehind(names);
    }

    @Override
    public void giveUpIfSilent() {
        SessionLink open = link;
        if (open != null && open.unanswered().compareTo(SILENCE) > 0) {
            // cut, the thread comes back with an exception
            standsFor = null;
            link = null;
            workers.aside(open::abort);
        }
    }

    @Override
    public boolean isBehind(List<LockName> names) {
        return names.size() == 1 && names.get(0).equals(standsFor);
    }

    @Override
    public boolean keepsOrder(List<LockName> names) {
        return link != null && names.size() == 1 && names.get(0).equals(last);
    }

    @Override
    public void freed(List<LockName> names) {
        if (names.get(0).equals(passedFor)) {
            passedFor = null;
            workers.ticker().unpark(thread);
        }
    }

    @Override
    public void close(Deadline end) {
        closed = true;
        others.close(end);
        Optional.ofNullable(link).ifPresent(each -> workers.aside(each::cancel));
        workers.ticker().unpark(thread);
        end.join(thread);
        // what it was to open may have come meanwhile
        Optional.ofNullable(link).filter(each -> !each.isClosed()).ifPresent(each -> workers.aside(each::abort));
    }

    private void run() {
        @Nullable SessionLink open = null;
        try {
            open = store.connect();
            link = open;
            store.open(open);
            Deadline end = workers.ticker().in(LINGER);
            while (!closed && !end.passed()) {
                LockName name = next.getAndSet(null);
                if (name == null) {
                    workers.ticker().park(LOOK_NANOS);
                } else {
                    standFor(name, open);
                    end = workers.ticker().in(LINGER);
                }
            }
        } catch (RuntimeException e) {
            retry = workers.ticker().in(e instanceof LockException ? PAUSE_AFTER_REFUSAL : PAUSE_AFTER_FAILURE);
            String what = "Locks are polled for, without a line: " + e.getMessage();
            if (closed) {
                Log.debug(what);
            } else {
                Log.warn(what);
            }
        } finally {
            last = null;
            standsFor = null;
            passedFor = null;
            if (open != null && !open.isClosed()) {
                open.close();
            }
            // watched until it is closed
            link = null;
            running.set(false);
            goOn();
        }
    }

    /** Starts the thread again for those who came while it was about to end, and found it running. */
    private void goOn() {
        if (closed || !retry.passed()) {
            next.set(null);
        } else if (next.get() != null) {
            begin();
        }
    }

    /** Stands in line, tries for the lock, and lets the next one try when the lock is freed. */
    private void standFor(LockName name, SessionLink open) {
        Object key = store.gateKey(name);
        boolean passed = false;
        last = name;
        standsFor = name;
        while (!closed && !passed && sleepers.waitFor(name)) {
            passed = open.await(key, SLICE);
        }
        passedFor = passed ? name : null;
        standsFor = null;
        if (!passed) {
            if (sleepers.waitFor(name)) {
                // one who came meanwhile believes to stand in line
                next.compareAndSet(null, name);
            }
            return;
        }
        sleepers.goFirst(name);
        int looks = 0;
        while (!closed
                && name.equals(passedFor)
                && (sleepers.have(name) ? looks++ < MOST_LOOKS : sleepers.waitFor(name))) {
            workers.ticker().park(LOOK_NANOS);
        }
        passedFor = null;
        open.release(key);
    }
}
