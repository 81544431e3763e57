// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.StaleSnapshotException;
import io.bitjang.Wait;
import io.bitjang.admin.LocalLock;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Log;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes grants and gives them back. It ties together the attempts, the queues, the renewer and the late releases of one instance;
 * each of them knows its own business. Thread-safe.
 */
public final class LeaseEngine {

    final Driver driver;
    final LockStore store;
    final GuardSql guard;
    private final Settings settings;
    final Events events;
    final Workers workers;
    final Ticker ticker;
    private final LateReleases late;
    final Attempts attempts;
    final Trail trail;
    final HeldRow heldRow;
    final Renewer renewer;
    private final WakeUps wakeUps;
    private final WaitQueues waiting;
    private final WaitsWithoutThread withoutThread;
    final Releases releases;
    private final Map<LockName, LeaseHandle> heldHere = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Makes an engine over a database whose tables are there. */
    public static LeaseEngine over(
            Database database,
            Tables tables,
            SessionStore sessions,
            Settings settings,
            Workers workers,
            Events events) {
        LockStore store = new LockStore(database.dialect(), tables, workers.ticker(), GrantKey::newSecret);
        return new LeaseEngine(
                store,
                store.guard(database),
                new WorkerDriver(database, workers),
                settings,
                workers,
                events,
                engine -> {
                    WakeUps notifications = new Notifications(
                            workers,
                            database,
                            tables.channel(),
                            settings.notifications(),
                            names -> engine.waiting().kick(names),
                            () -> engine.waiting().isEmpty());
                    boolean gates = settings.notifications() && sessions.shares();
                    return gates ? new ProcessLine(engine, sessions, notifications) : notifications;
                });
    }

    /** Makes an engine of these parts. */
    LeaseEngine(
            LockStore store,
            GuardSql guard,
            Driver driver,
            Settings settings,
            Workers workers,
            Events events,
            Function<LeaseEngine, WakeUps> sources) {
        this.driver = driver;
        this.store = store;
        this.guard = guard;
        this.settings = settings;
        this.workers = workers;
        this.ticker = workers.ticker();
        this.events = events;
        this.late = new LateReleases(driver, store, workers, names -> waiting().kick(names));
        this.attempts = new Attempts(ticker, store, late);
        this.trail = new Trail(store, events, settings.audit());
        this.heldRow = new HeldRow(ticker, store);
        this.renewer = new Renewer(driver, store, heldRow, attempts, workers, events);
        this.wakeUps = sources.apply(this);
        this.waiting = new WaitQueues(this, store, workers, wakeUps);
        this.withoutThread = new WaitsWithoutThread(this, waiting, workers);
        this.releases = new Releases(this, waiting, late, events);
    }

    private WaitQueues waiting() {
        return waiting;
    }

    /** Does what the plan says, on this thread. */
    <T extends @Nullable Object> T run(Plan<T> plan) {
        return driver.run(plan);
    }

    /** Returns how this instance was configured. */
    public Settings settings() {
        return settings;
    }

    boolean isClosed() {
        return closed.get();
    }

    void requireOpen() {
        if (closed.get()) {
            throw closed();
        }
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("This Locks is closed");
    }

    /** Requires that this instance is open; if it is not, the caller's transaction is rolled back. */
    void requireOpenFor(Connection connection) {
        if (closed.get()) {
            throw GuardSql.refuse(
                    connection, new IllegalStateException("This Locks is closed, the transaction was rolled back"));
        }
    }

    /** Tries once to take the locks, tells the listeners and writes the audit trail. */
    Plan<Attempts.Outcome> attempt(List<LockName> names, Request request, int reserve) {
        return Plan.later(() -> {
                    requireOpen();
                    return attempts.acquire(names, request, reserve);
                })
                .then(outcome -> trail.tell(names, request, outcome.answer())
                        .map(told -> outcome)
                        .otherwise(e -> {
                            if (outcome.answer().granted() && !outcome.answer().reentered()) {
                                // nobody gets to know its secret
                                late.addHeld(names, outcome.answer().grantedSecret(), request.duration(), 0);
                            }
                            return null;
                        }));
    }

    /** Makes the lease of an attempt that was granted; it is renewed from now on. */
    Plan<LeaseHandle> granted(List<LockName> names, Request request, Attempts.Outcome outcome) {
        ClaimResult answer = outcome.answer();
        GrantKey key = new GrantKey(names.get(0), answer.fence(), answer.grantedSecret());
        long deadline = outcome.sentAt().ticks() + request.duration().toNanos();
        return begun(new LeaseHandle(this, names, key, request, outcome.sentAt(), deadline));
    }

    /** Passes a holder's lock on to the next waiter of this process, with a fence that was set aside for it. */
    Plan<LeaseHandle> passedOn(LeaseHandle from, FenceReserve run, Request request) {
        GrantKey key = new GrantKey(from.name(), run.nextFence(), from.key().secret());
        LeaseHandle lease = new LeaseHandle(this, from.names(), key, request, ticker.clocks(), from.deadline());
        lease.seenAt(from.seenAt());
        lease.joins(run);
        run.holder = lease;
        return begun(lease);
    }

    private Plan<LeaseHandle> begun(LeaseHandle lease) {
        lease.names().forEach(name -> heldHere.put(name, lease));
        renewer.add(lease);
        return closed.get() && lease.endQuietly()
                ? late.giveBackNow(
                                lease.names(),
                                lease.key().secret(),
                                lease.request().duration())
                        .then(given -> Plan.failed(closed()))
                : Plan.of(lease);
    }

    Plan<Optional<LeaseHandle>> tryAcquire(List<LockName> names, Request request) {
        return attempt(names, request, 0)
                .then(outcome -> outcome.answer().granted()
                        ? granted(names, request, outcome).map(Optional::of)
                        : Plan.of(Optional.empty()));
    }

    /** Tries once to take the locks if they are most likely free; empty if they were not, or the attempt failed. */
    Optional<LeaseHandle> tryIfQuiet(List<LockName> names, Request request) {
        try {
            return holds(names) || !waiting.isQuiet(names) ? Optional.empty() : run(tryAcquire(names, request));
        } catch (LockException e) {
            Log.debug("A first attempt failed, it is waited for", e);
            return Optional.empty();
        }
    }

    /** Waits for a lease on the calling thread. */
    Lease acquire(List<LockName> names, Request request, Wait wait) {
        requireOpen();
        names.forEach(this::requireNotOwn);
        LeaseWaiter waiter = new LeaseWaiter(ticker, names, request, wait);
        enqueue(waiter);
        try {
            return waiter.await().heldByThisThread();
        } finally {
            waiting.left(waiter);
        }
    }

    /**
     * Refuses a wait for a lock that the calling thread has itself: nobody else can give back a lease that nobody sees. If others
     * can see the lease, it only warns.
     */
    private void requireNotOwn(LockName name) {
        LeaseHandle lease = heldHere.get(name);
        if (lease == null || !lease.active() || !lease.isHeldByThisThread()) {
            return;
        }
        if (lease.request().unseen()) {
            throw new LockDeadlockException(
                    List.of(name),
                    "This thread has " + name + " already (by run, call, tryRun or asLock) and would wait for itself",
                    null);
        }
        Log.warn("This thread waits for " + name
                + ", of which it has a lease itself: it waits until another closes that");
    }

    /** Waits for a lease without a thread. */
    CompletableFuture<Lease> acquireAsync(List<LockName> names, Request request, Wait wait) {
        requireOpen();
        return withoutThread.acquire(new LeaseWaiter(ticker, names, request, wait), wait);
    }

    /** Pins all locks of a lease in the caller's transaction. */
    void guardAll(Connection connection, LeaseHandle lease) {
        for (LockName name : lease.names()) {
            try {
                guard.pin(connection, lease.key(name));
            } catch (StaleSnapshotException e) {
                throw e;
            } catch (NoLockException e) {
                lease.lose(
                        e.takenAwayBy().map("it was taken away by "::concat).orElse("the guard found that it is gone"));
                lease.notHeld();
                throw e;
            }
        }
    }

    /** Gives a lease back. */
    Plan<@Nullable Void> release(LeaseHandle lease) {
        renewer.remove(lease);
        lease.names().forEach(name -> heldHere.remove(name, lease));
        return releases.release(lease);
    }

    /** Releases a lost lease in the background: one that ended here by its own clock may still be in the table. */
    void releaseLater(LeaseHandle lease) {
        late.addHeld(lease.names(), lease.key().secret(), lease.request().duration(), 0);
    }

    /** Forgets a lease whose handle says that it was lost; the listeners are told by the given executor. */
    void lost(LeaseHandle lease, String reason, Executor telling) {
        renewer.remove(lease);
        lease.names().forEach(name -> heldHere.remove(name, lease));
        if (lease.names().size() > 1) {
            // one of them is gone: the others must not stay taken
            releaseLater(lease);
        }
        telling.execute(() -> events.tell(
                Kind.LOST, lease.names(), lease.fence(), lease.request().owner(), reason));
        workers.execute(() -> waiting.kick(lease.names()));
    }

    /** Tells the holder of a lock that was taken away, if it is in this process: it need not wait for its next renewal. */
    void takenAway(LockName name, long fence, String reason) {
        LeaseHandle lease = heldHere.get(name);
        if (lease != null && lease.fence() == fence) {
            lease.lose("it was taken away by " + reason);
        }
        waiting.kick(List.of(name));
    }

    boolean holds(LockRow row) {
        LeaseHandle lease = heldHere.get(row.name());
        return lease != null && row.covers(lease.fence());
    }

    /** Tells whether a lease of this process has just these locks: it will hand them on. */
    boolean holds(List<LockName> names) {
        LeaseHandle lease = heldHere.get(names.get(0));
        return lease != null && lease.active() && lease.names().equals(names);
    }

    /** Whether anyone here waits for just this lock. */
    boolean waits(LockName name) {
        return waiting.queueFor(List.of(name)) != null;
    }

    /** Lets those who wait here for a lock try for it: it is most likely free, and this process is the first in line. */
    void isFree(LockName name) {
        store.believeFree(name);
        waiting.goFirst(name);
    }

    /** Lists what this process holds and waits for, as leases. */
    List<LocalLock> here() {
        return Stream.concat(heldHere.keySet().stream(), waiting.names())
                .distinct()
                .map(this::here)
                .filter(lock -> lock.held() || lock.waiters() > 0)
                .toList();
    }

    private LocalLock here(LockName name) {
        LeaseHandle lease = heldHere.get(name);
        boolean held = lease != null && lease.active();
        long nanos = lease != null && held ? ticker.now() - lease.acquiredAt() : 0;
        return new LocalLock(name, LocalLock.Kind.LEASE, held, Duration.ofNanos(nanos), waiting.waitersFor(name));
    }

    /** Gives back all leases in as few statements as possible and fails those who wait, until the given end at most. */
    public void close(Deadline end) {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        waiting.failAll(closing());
        withoutThread.failAll(closing());
        releases.releaseAll(
                renewer.leases().stream().filter(LeaseHandle::endQuietly).toList(), end);
        wakeUps.close(end);
    }

    static LockException closing() {
        return new LockException(null, "This Locks was closed", null);
    }

    void enqueue(LeaseWaiter waiter) {
        waiting.enqueue(waiter);
        failIfClosed(waiter);
    }

    /** Fails a waiter who came while this instance was being closed, so that it is not left waiting. */
    void failIfClosed(LeaseWaiter waiter) {
        if (closed.get()) {
            waiter.fail(closing());
        }
    }
}
