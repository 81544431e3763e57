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
import io.bitjang.internal.sql.Answer;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where grants are made and given back. It ties together the attempts, the queues, the renewer and the late releases of one
 * instance; each of them knows its own business. Thread-safe.
 */
public final class LeaseEngine {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    final LockStore store;
    final GuardSql guard;
    private final Settings settings;
    final Events events;
    final Workers workers;
    private final LateReleases late;
    final Attempts attempts;
    final OwnRow ownRow;
    final Renewer renewer;
    private final Bell bell;
    private final Waiting waiting;
    private final WaitsWithoutThread withoutThread;
    final Releases releases;
    private final Map<LockName, LeaseHandle> heldHere = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Over a database whose tables are there. */
    public LeaseEngine(
            Database database,
            Tables tables,
            SessionStore sessions,
            Settings settings,
            Workers workers,
            Events events) {
        this.store = new LockStore(database, tables);
        this.guard = store.guard();
        this.settings = settings;
        this.workers = workers;
        this.events = events;
        this.late = new LateReleases(store, workers, names -> waiting().kick(names));
        this.attempts = new Attempts(store, late);
        this.ownRow = new OwnRow(store);
        this.renewer = new Renewer(store, ownRow, attempts, workers, events);
        Bell notifications = new Notifications(
                database,
                tables.channel(),
                settings.notifications(),
                names -> waiting().kick(names),
                () -> waiting().isEmpty());
        boolean gates = settings.notifications() && sessions.shares();
        this.bell = gates ? new SessionGate(this, sessions, notifications) : notifications;
        this.waiting = new Waiting(this, store, workers, bell);
        this.withoutThread = new WaitsWithoutThread(this, waiting, workers);
        this.releases = new Releases(this, waiting, late, events);
    }

    private Waiting waiting() {
        return waiting;
    }

    /** How it was configured. */
    public Settings settings() {
        return settings;
    }

    boolean isClosed() {
        return closed.get();
    }

    void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException("This Locks is closed");
        }
    }

    /** The same for a caller's transaction, which is rolled back if it is too late. */
    void requireOpenFor(Connection connection) {
        try {
            requireOpen();
        } catch (IllegalStateException e) {
            throw GuardSql.refuse(connection, e);
        }
    }

    /** One attempt to take the locks; tells the listeners and writes the audit trail. */
    Attempts.Outcome attempt(List<LockName> names, Request request, int reserve) {
        requireOpen();
        Attempts.Outcome outcome = attempts.acquire(names, request, reserve);
        Answer answer = outcome.answer();
        if (!answer.granted()) {
            LockRow holder = answer.holder();
            events.tell(Kind.REFUSED, names, 0, request.owner(), holder == null ? null : holder.toString());
            return outcome;
        }
        boolean whole = names.size() == 1;
        Map<LockName, LockRow> rows = answer.takenOver() && !whole ? takenFrom(names) : Map.of();
        for (LockName name : names) {
            LockRow row = rows.get(name);
            boolean takenOver = whole ? answer.takenOver() : row != null && row.takenFrom() != null;
            Kind kind = answer.reentered() ? Kind.REENTERED : takenOver ? Kind.TAKEN_OVER : Kind.ACQUIRED;
            events.tell(kind, List.of(name), answer.fence(), request.owner(), null);
            if (takenOver && settings.audit()) {
                audit(name, answer.fence(), null);
            }
        }
        return outcome;
    }

    /** Which of several locks had expired in the hands of others is not told by the answer, but by the rows. */
    private Map<LockName, LockRow> takenFrom(List<LockName> names) {
        try {
            return store.read(names);
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.WARNING, "From whom " + names + " were taken could not be read", e);
            return Map.of();
        }
    }

    void audit(LockName name, long fence, @Nullable String reason) {
        try {
            store.admin().auditTakeOver(name, fence, reason);
        } catch (DatabaseException e) {
            LOG.log(System.Logger.Level.WARNING, "The take-over of " + name + " could not be written down", e);
        }
    }

    /** A lease for an attempt that was granted; renewed from now on. */
    LeaseHandle granted(List<LockName> names, Request request, Attempts.Outcome outcome) {
        Answer answer = outcome.answer();
        GrantKey key = new GrantKey(names.get(0), answer.fence(), answer.grantedSecret());
        long deadline = outcome.sentAt().ticks() + request.duration().toNanos();
        return begun(new LeaseHandle(this, names, key, request, outcome.sentAt(), deadline));
    }

    /** A holder's lock passes on to the next one in this process, with a fence that was set aside for it. */
    LeaseHandle passedOn(LeaseHandle from, Run run, Request request) {
        GrantKey key = new GrantKey(from.name(), run.nextFence(), from.key().secret());
        LeaseHandle lease = new LeaseHandle(this, from.names(), key, request, Clocks.now(), from.deadline());
        lease.seenAt(from.seenAt());
        lease.joins(run);
        run.holder = lease;
        return begun(lease);
    }

    private LeaseHandle begun(LeaseHandle lease) {
        List<LockName> names = lease.names();
        names.forEach(name -> heldHere.put(name, lease));
        renewer.add(lease);
        if (closed.get() && lease.endQuietly()) {
            // too late for those who close: on this thread, because the others are about to end
            late.addHeld(names, lease.key().secret(), lease.request().duration(), 0);
            late.tryAll();
            requireOpen();
        }
        return lease;
    }

    @Nullable
    LeaseHandle tryAcquire(List<LockName> names, Request request) {
        Attempts.Outcome outcome = attempt(names, request, 0);
        return outcome.answer().granted() ? granted(names, request, outcome) : null;
    }

    /** One attempt, if the lock is most likely free; null if it was not, or the attempt failed. */
    @Nullable
    LeaseHandle tryIfQuiet(List<LockName> names, Request request) {
        try {
            return holds(names) || !waiting.isQuiet(names) ? null : tryAcquire(names, request);
        } catch (LockException e) {
            LOG.log(System.Logger.Level.DEBUG, "A first attempt failed, it is waited for", e);
            return null;
        }
    }

    /** Waits on the calling thread. */
    Lease acquire(List<LockName> names, Request request, Wait wait) {
        requireOpen();
        names.forEach(this::requireNotOwn);
        LeaseWaiter waiter = new LeaseWaiter(names, request, wait);
        enqueue(waiter);
        try {
            return waiter.await().heldByThisThread();
        } finally {
            waiting.left(waiter);
        }
    }

    /** A thread that waits for what it has itself would wait in vain: nobody else can give back a lease that nobody sees. */
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
        LOG.log(
                System.Logger.Level.WARNING,
                "This thread waits for " + name
                        + ", of which it has a lease itself: it waits until another closes that");
    }

    /** Waits without a thread. */
    CompletableFuture<Lease> acquireAsync(List<LockName> names, Request request, Wait wait) {
        requireOpen();
        return withoutThread.acquire(new LeaseWaiter(names, request, wait), wait);
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
            } catch (DatabaseException e) {
                throw Attempts.failed(name, "could not be guarded, the transaction was rolled back", e);
            }
        }
    }

    /** Gives a lease back. */
    void release(LeaseHandle lease) {
        renewer.remove(lease);
        lease.names().forEach(name -> heldHere.remove(name, lease));
        releases.release(lease);
    }

    /** A lease that ended here by its own clock may still stand in the table. */
    void releaseLater(LeaseHandle lease) {
        late.addHeld(lease.names(), lease.key().secret(), lease.request().duration(), 0);
    }

    /** A handle says that it was lost; the listeners hear of it where they are told. */
    void lost(LeaseHandle lease, String reason, Executor telling) {
        renewer.remove(lease);
        lease.names().forEach(name -> heldHere.remove(name, lease));
        if (lease.names().size() > 1) {
            // one of them is gone: the others must not stay taken
            late.addHeld(lease.names(), lease.key().secret(), lease.request().duration(), 0);
        }
        telling.execute(() -> events.tell(
                Kind.LOST, lease.names(), lease.fence(), lease.request().owner(), reason));
        workers.execute(() -> waiting.kick(lease.names()));
    }

    /** An operator took a lock away: if its holder is here, it need not wait for its next renewal to be told. */
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

    /** Whether a lease of this process has just these locks: it will hand them on. */
    boolean holds(List<LockName> names) {
        LeaseHandle lease = heldHere.get(names.get(0));
        return lease != null && lease.active() && lease.names().equals(names);
    }

    /** Whether anyone here waits for just this lock. */
    boolean waits(LockName name) {
        return waiting.queueFor(List.of(name)) != null;
    }

    /** It is most likely free, and whoever waits for it here is the first in line: they try. */
    void isFree(LockName name) {
        store.believeFree(name);
        waiting.goFirst(name);
    }

    /** What this process holds and waits for, as leases. */
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
        long nanos = lease != null && held ? Ticks.now() - lease.acquiredAt() : 0;
        return new LocalLock(name, LocalLock.Kind.LEASE, held, Duration.ofNanos(nanos), waiting.waitersFor(name));
    }

    /** Gives back all leases in as few statements as possible, fails those who wait; not longer than until then. */
    public void close(Deadline end) {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        waiting.failAll(closing());
        withoutThread.failAll(closing());
        releases.releaseAll(
                renewer.leases().stream().filter(LeaseHandle::endQuietly).toList(), end);
        bell.close(end);
    }

    static LockException closing() {
        return new LockException(null, "This Locks was closed", null);
    }

    void enqueue(LeaseWaiter waiter) {
        waiting.enqueue(waiter);
        failIfClosed(waiter);
    }

    /** Whoever came while it was being closed is not left waiting. */
    void failIfClosed(LeaseWaiter waiter) {
        if (closed.get()) {
            waiter.fail(closing());
        }
    }
}
