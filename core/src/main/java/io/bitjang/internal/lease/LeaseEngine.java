// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.admin.LocalLock;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Log;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The leases of one instance: ties its parts together, and looks after the leases that were granted. None of the parts knows the
 * engine. Thread-safe.
 */
public final class LeaseEngine implements LeaseHandle.Keeper {

    final Instance instance;
    final GuardSql guard;
    final HeldRow heldRow;
    final Grants grants;
    final Releases releases;
    private final LateReleases late;
    final HeldLeases held = new HeldLeases();
    private final Renewer renewer;
    final WaitQueues waiting;
    private final WaitsWithoutThread withoutThread;

    /** Makes an engine over a database whose tables are there. */
    public static LeaseEngine over(
            Database database,
            Tables tables,
            SessionStore sessions,
            Settings settings,
            Workers workers,
            Events events) {
        LockStore store = new LockStore(database.dialect(), tables, workers.ticker(), GrantKey::newSecret);
        Instance instance = new Instance(new WorkerDriver(database, workers), store, events, settings);
        return new LeaseEngine(instance, store.guard(database), sleepers -> {
            if (!settings.notifications()) {
                return WakeUps.NONE;
            }
            WakeUps notifications = database.dialect()
                    .notifying(tables.locks())
                    .<WakeUps>map(notifying -> new Notifications(workers, database, notifying, sleepers))
                    .orElse(WakeUps.NONE);
            return sessions.shares() ? new ProcessLine(workers, sessions, sleepers, notifications) : notifications;
        });
    }

    /** Makes an engine of these parts, whose waiters are woken by this source. */
    LeaseEngine(Instance instance, GuardSql guard, Function<WakeUps.Sleepers, WakeUps> source) {
        this.instance = instance;
        this.guard = guard;
        this.late = new LateReleases(instance.driver, instance.store, this::wake);
        this.heldRow = new HeldRow(instance.ticker, instance.store);
        this.renewer = new Renewer(instance, heldRow, held);
        this.grants = new Grants(instance, this, renewer, late);
        PassingOn passingOn = new PassingOn(instance);
        this.waiting = new WaitQueues(instance, held, grants, passingOn, source);
        this.withoutThread = new WaitsWithoutThread(instance, grants, waiting);
        this.releases = new Releases(instance, heldRow, grants, passingOn, waiting, late);
    }

    private void wake(List<LockName> freed) {
        waiting.wake(freed);
    }

    /** Returns how this instance was configured. */
    public Settings settings() {
        return instance.settings;
    }

    @Override
    public <T extends @Nullable Object> T run(Plan<T> plan) {
        return instance.driver.run(plan);
    }

    @Override
    public void requireOpen() {
        instance.requireOpen();
    }

    Optional<LockRow> read(LockName name) {
        return run(heldRow.repeatable(name, "could not be read", instance.store.read(name)));
    }

    /** Tries once to take the locks if they are most likely free; empty if they were not, or the attempt failed. */
    Optional<LeaseHandle> tryIfQuiet(List<LockName> names, Request request) {
        try {
            return held.holds(names) || !waiting.isQuiet(names)
                    ? Optional.empty()
                    : run(grants.tryAcquire(names, request));
        } catch (LockException e) {
            Log.debug("A first attempt failed, it is waited for", e);
            return Optional.empty();
        }
    }

    /** Waits for a lease on the calling thread. */
    Lease acquire(List<LockName> names, Request request, Wait wait) {
        requireOpen();
        names.forEach(this::requireNotOwn);
        LeaseWaiter waiter = new LeaseWaiter(instance.ticker, names, request, wait);
        waiting.enqueue(waiter);
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
        LeaseHandle lease = held.of(name);
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
        return withoutThread.acquire(new LeaseWaiter(instance.ticker, names, request, wait), wait);
    }

    /** Requires that a guard can be carried out on this connection; if not, the caller's transaction is rolled back. */
    GuardSql guardFor(Connection connection) {
        guard.requireTransaction(connection);
        instance.requireOpenFor(connection);
        return guard;
    }

    @Override
    public void guard(Connection connection, LeaseHandle lease) {
        GuardSql pins = guardFor(connection);
        if (!lease.isHeld()) {
            throw GuardSql.refuse(connection, lease.notHeld(", the transaction was rolled back"));
        }
        for (LockName name : lease.names()) {
            pins.pin(connection, lease.key(name), gone -> {
                lease.lose(gone);
                lease.holderIsTold();
            });
        }
    }

    @Override
    public Plan<Boolean> renewal(LeaseHandle lease) {
        return renewer.renewNow(lease);
    }

    @Override
    public void ask(LeaseHandle lease, Clocks confirmedAt, Executor telling) {
        renewer.ask(lease, confirmedAt, "the clock ran ahead: the host may have been suspended", telling);
    }

    @Override
    public Plan<@Nullable Void> release(LeaseHandle lease) {
        held.remove(lease);
        return releases.release(lease);
    }

    @Override
    public void releaseLater(LeaseHandle lease) {
        late.addHeld(lease.names(), lease.key().secret(), lease.request().duration(), 0);
    }

    @Override
    public void lost(LeaseHandle lease, String reason, Executor telling) {
        held.remove(lease);
        if (lease.names().size() > 1) {
            // one of them is gone: the others must not stay taken
            releaseLater(lease);
        }
        telling.execute(() -> instance.tell(Kind.LOST, lease, reason));
        instance.driver.start(Plan.DONE.last(done -> wake(lease.names())));
    }

    /** Tells the holder of a lock that was taken away, if it is in this process: it need not wait for its next renewal. */
    void takenAway(LockName name, long fence, Gone reason) {
        LeaseHandle lease = held.of(name);
        if (lease != null && lease.fence() == fence) {
            lease.lose(reason);
        }
        wake(List.of(name));
    }

    /** Lists what this process holds and waits for, as leases. */
    List<LocalLock> here() {
        return Stream.concat(held.names().stream(), waiting.names())
                .distinct()
                .map(this::here)
                .filter(lock -> lock.held() || lock.waiters() > 0)
                .toList();
    }

    private LocalLock here(LockName name) {
        LeaseHandle lease = held.of(name);
        boolean active = lease != null && lease.active();
        long nanos = lease != null && active ? instance.ticker.now() - lease.acquiredAt() : 0;
        return new LocalLock(name, LocalLock.Kind.LEASE, active, Duration.ofNanos(nanos), waiting.waitersFor(name));
    }

    /** Gives back all leases in as few statements as possible and fails those who wait, until the given end at most. */
    public void close(Deadline end) {
        if (!instance.end()) {
            return;
        }
        waiting.failAll(Instance.ending());
        withoutThread.failAll(Instance.ending());
        releases.releaseAll(held.all().stream().filter(LeaseHandle::endQuietly).toList(), end);
        waiting.close(end);
    }
}
