// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.admin.LocalLock;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.Log;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Takes session locks, gives them back, and watches over the sessions that hold them. Thread-safe. */
public final class SessionEngine {

    /** How often the shared connection asks for a lock when no connection is free to wait. */
    private static final Duration POLL = Duration.ofMillis(25);

    private static final Duration ONE_SECOND = Duration.ofSeconds(1);

    /** How long cutting connections may take when everything is closed. */
    private static final Duration CUTTING = Duration.ofMillis(500);

    private static final Duration AFTER_FAILURE = Duration.ofMillis(200);

    private final SessionStore store;
    private final SessionSettings settings;
    private final Workers workers;
    private final Events events;
    private final SessionConnections links;
    private final Turns turns;
    private final SessionMonitor watch;
    final TransactionScope transactions;
    /** Which connection waits for which lock right now. */
    private final Map<LockName, SessionLink> awaited = new ConcurrentHashMap<>();

    /** Sessions that are gone, and whose connections are about to be cut. */
    private final Set<SessionLink> dying = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /** Makes an engine over the connections that are set aside for session locks. */
    public SessionEngine(SessionStore store, SessionSettings settings, Workers workers, Events events) {
        this.store = store;
        this.settings = settings;
        this.workers = workers;
        this.events = events;
        this.links = new SessionConnections(store, settings.waitingConnections(), this::beginToWatch);
        this.turns = new Turns(workers, this::release, settings.most());
        this.watch = new SessionMonitor(links, turns, workers, this::died);
        this.transactions = new TransactionScope(store, workers.ticker());
    }

    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("This Locks is closed");
        }
    }

    /** Lists what this process holds and waits for, as session locks. */
    public List<LocalLock> here() {
        return turns.here();
    }

    /** Tries once to take the lock, on the calling thread; null if someone has it. */
    SessionLock.@Nullable Hold tryAcquire(LockName name) {
        requireOpen();
        if (!begin(name)) {
            tell(Kind.REFUSED, name, "it is taken in this process");
            return null;
        }
        @Nullable Grant grant = null;
        try {
            grant = attempt(name);
        } catch (DatabaseException e) {
            throw e.toFailure(name, "could not be taken");
        } finally {
            if (grant == null) {
                freed(name);
            }
        }
        if (grant == null) {
            tell(Kind.REFUSED, name, null);
            return null;
        }
        Holding holding = turns.taken(name, grant);
        if (holding == null) {
            freed(name);
            throw new LockingFailException(name, name + " could not be taken: its session died", null);
        }
        granted(holding);
        return begun(holding, Kind.ACQUIRED);
    }

    private boolean begin(LockName name) {
        Deadline soon = workers.ticker().in(ONE_SECOND);
        Turns.Begin begin = turns.begin(name);
        while (begin == Turns.Begin.SOON && !soon.passed()) {
            workers.ticker().pause(name, 1);
            begin = turns.begin(name);
        }
        return begin == Turns.Begin.MINE;
    }

    /** Waits on the calling thread, while others do the asking: no deadline depends on the database. */
    SessionLock.Hold acquire(LockName name, Wait wait) {
        requireOpen();
        if (wait.limit().isEmpty() && turns.holdsAny(Thread.currentThread())) {
            throw new IllegalStateException(
                    "Waiting for " + name + " for ever while this thread holds another session lock is"
                            + " refused: across processes nobody would notice a deadlock. Say how long to wait, or take all at once"
                            + " with locks.leaseAll(...)");
        }
        SessionWaiter waiter = new SessionWaiter(workers.ticker(), name, wait);
        if (turns.join(waiter)) {
            workers.execute(() -> contend(name));
        } else {
            waiter.refused(null);
        }
        if (closed) {
            waiter.fail(closing());
        }
        try {
            // told here, and so before it can be told that it was given back
            return begun(waiter.await(), waiter.handedOver ? Kind.HANDED_OVER : Kind.ACQUIRED);
        } finally {
            if (turns.left(waiter)) {
                Optional.ofNullable(awaited.get(name))
                        .ifPresent(link -> workers.execute(() -> stopWaiting(name, link)));
            }
        }
    }

    /** Tries for a lock on behalf of those who stand in line. */
    private void contend(LockName name) {
        List<SessionWaiter> line = turns.line(name);
        @Nullable Grant grant = null;
        Duration pause = POLL;
        try {
            if (!line.isEmpty() && !closed) {
                grant = attempt(name);
                if (grant == null) {
                    line.forEach(waiter -> waiter.refused(null));
                    @Nullable SessionLink own = links.forWaiting();
                    if (own != null) {
                        grant = await(own, name, line);
                        pause = Duration.ZERO;
                    }
                }
            }
        } catch (DatabaseException e) {
            line.forEach(waiter -> waiter.failed(e.toFailure(name, "could not be taken")));
            pause = AFTER_FAILURE;
        } catch (LockException e) {
            line.forEach(waiter -> waiter.fail(e));
        } catch (RuntimeException e) {
            line.forEach(waiter ->
                    waiter.fail(closed ? closing() : new LockException(name, name + " could not be taken: " + e, e)));
        }
        if (grant == null) {
            tryAgain(name, pause);
            return;
        }
        Holding holding = turns.granted(name, grant);
        if (holding == null) {
            giveBack(name, grant);
        } else {
            granted(holding);
        }
    }

    private void tryAgain(LockName name, Duration pause) {
        if (!turns.free(name)) {
            return;
        }
        if (pause.isZero()) {
            workers.execute(() -> contend(name));
        } else {
            workers.after(pause.toNanos(), () -> workers.execute(() -> contend(name)));
        }
    }

    private void freed(LockName name) {
        tryAgain(name, Duration.ZERO);
    }

    /** Tries for a lock without waiting. If its connection has died, another is tried, once. */
    private @Nullable Grant attempt(LockName name) {
        SessionLink link = links.forAttempt();
        try {
            return asked(link, name, link::attempt);
        } catch (DatabaseException e) {
            if (!SessionLink.isBroken(e)) {
                throw e;
            }
            SessionLink other = links.forAttempt();
            @Nullable Grant second = asked(other, name, other::attempt);
            if (second == null) {
                // perhaps refused by what the first one has got on a session that is about to end
                throw e;
            }
            return second;
        }
    }

    /** Asks for a lock by its key on a connection, which carries the lock then, or nothing. */
    private @Nullable Grant asked(SessionLink link, LockName name, Predicate<Object> question) {
        Object key = store.key(name);
        boolean taken = false;
        try {
            taken = question.test(key);
            return taken ? new Grant(link, key) : null;
        } catch (DatabaseException e) {
            if (SessionLink.isBroken(e)) {
                died(link, e.getMessage());
            }
            throw e;
        } finally {
            if (!taken) {
                links.unused(link);
            }
        }
    }

    private @Nullable Grant await(SessionLink link, LockName name, List<SessionWaiter> line) {
        long longest = line.stream()
                .mapToLong(waiter -> waiter.deadline().remainingNanos())
                .max()
                .orElse(0);
        Duration slice = Duration.ofNanos(Math.min(longest, SessionMonitor.SLICE.toNanos()));
        return asked(link, name, key -> {
            awaited.put(name, link);
            try {
                return !turns.line(name).isEmpty() && link.await(key, slice);
            } finally {
                // before the connection may wait for another lock
                awaited.remove(name);
            }
        });
    }

    /** Ends the wait for a lock that nobody wants any more. The wait may be about to begin, or about to end. */
    private void stopWaiting(LockName name, SessionLink link) {
        Deadline enough = workers.ticker().in(ONE_SECOND);
        while (awaited.get(name) == link && turns.line(name).isEmpty() && !enough.passed()) {
            link.cancel();
            workers.ticker().pause(name, 20);
        }
    }

    private void granted(Holding holding) {
        watch.begin();
        if (closed && holding.end()) {
            giveBack(holding.name, holding.grant);
        }
    }

    /** Tells that a holding has begun; that it was lost is told after that. */
    private SessionLock.Hold begun(Holding holding, Kind kind) {
        tell(kind, holding.name, null);
        holding.loss.begin();
        return holding.hold();
    }

    private void beginToWatch() {
        watch.begin();
    }

    /** Passes the lock of a holder who has done on to the next in line, or gives it back to the database. */
    private void release(Holding holding) {
        tell(Kind.RELEASED, holding.name, null);
        if (turns.passedOn(holding) == null && !giveBack(holding.name, holding.grant) && !closed) {
            throw new NoLockException(
                    holding.name,
                    holding.name + " was lost: its session died, which was noticed when it was given back",
                    null);
        }
    }

    /** Gives a lock back on the session that has it, and on no other; false if that is gone or did not have it. */
    private boolean giveBack(LockName name, Grant grant) {
        SessionLink link = grant.link();
        boolean given = false;
        try {
            if (!link.isDead()) {
                given = link.release(grant.key());
                links.unused(link);
            }
        } catch (DatabaseException e) {
            if (!SessionLink.isBroken(e)) {
                Log.warn(name + " could not be given back, it is tried again: " + e.getMessage());
                workers.after(AFTER_FAILURE.toNanos(), () -> workers.execute(() -> giveBack(name, grant)));
                return true;
            }
            died(link, e.getMessage());
        } catch (RuntimeException e) {
            died(link, e.toString());
        }
        freed(name);
        return given;
    }

    /** Tells everyone who has a lock on a session that it is gone. */
    private void died(SessionLink link, @Nullable String reason) {
        if (!link.die()) {
            return;
        }
        dying.add(link);
        links.forget(link);
        for (Holding holding : turns.on(link)) {
            if (holding.lose("its session died: " + reason)) {
                holding.loss.add(() -> tell(Kind.LOST, holding.name, reason));
                freed(holding.name);
            }
        }
        // not on a worker: all of them may wait for this very link
        workers.aside(() -> {
            link.abort();
            dying.remove(link);
        });
    }

    private void tell(Kind kind, LockName name, @Nullable String detail) {
        events.tell(kind, List.of(name), 0, settings.owner(), detail);
    }

    /**
     * Gives back all locks, fails those who wait and closes the connections, once; a connection that does not answer by the given
     * end is cut, and one that can't even be cut is left to itself soon after.
     */
    public CompletableFuture<Void> close(Deadline end) {
        closed = true;
        turns.everybody().forEach(waiter -> waiter.fail(closing()));
        links.close();
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (SessionLink link :
                Stream.concat(links.all().stream(), dying.stream()).toList()) {
            boolean waits = !link.die() || links.isWaiting(link) && !turns.any(link);
            turns.on(link).forEach(Holding::end);
            links.forget(link);
            closing.add(CompletableFuture.runAsync(waits ? link::abort : link::close, workers::aside)
                    .completeOnTimeout(null, end.remainingNanos(), TimeUnit.NANOSECONDS)
                    .thenRunAsync(
                            () -> {
                                if (!link.isClosed()) {
                                    link.abort();
                                }
                            },
                            workers::aside));
        }
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, end.remainingNanos() + CUTTING.toNanos(), TimeUnit.NANOSECONDS);
    }

    private static LockException closing() {
        return new LockException(null, "This Locks was closed", null);
    }
}
