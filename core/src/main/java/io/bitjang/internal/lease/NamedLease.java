// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;

/** A lease by name, or by several names in order, with its settings. Immutable. */
public final class NamedLease implements LeaseLock {

    private static final int MAX_NAMES = 500;

    private final LeaseEngine engine;
    private final List<LockName> names;
    private final Request request;

    /** Makes a lease of these names, whose order is the library's business. */
    public NamedLease(LeaseEngine engine, Collection<LockName> names) {
        this(
                engine,
                inOrder(names),
                Request.of(engine.settings().owner(), engine.settings().lease(), null));
        if (names.isEmpty() || this.names.size() > MAX_NAMES) {
            throw new IllegalArgumentException(
                    "1 to " + MAX_NAMES + " locks can be taken together, not " + this.names.size());
        }
    }

    private static List<LockName> inOrder(Collection<LockName> names) {
        names.forEach(name -> Objects.requireNonNull(name, "name"));
        return List.copyOf(new TreeSet<>(names));
    }

    private NamedLease(LeaseEngine engine, List<LockName> names, Request request) {
        this.engine = engine;
        this.names = names;
        this.request = request;
    }

    @Override
    public LeaseLock lasting(Duration duration) {
        return with(request.lasting(Limits.duration("duration of a lease", duration)));
    }

    @Override
    public LeaseLock owner(String owner) {
        return with(request.ownedBy(Limits.owner(owner)));
    }

    @Override
    public LeaseLock note(String note) {
        return with(request.noting(Limits.note(note)));
    }

    @Override
    public LeaseLock maxHold(Duration duration) {
        return with(request.heldAtMost(Limits.duration("maximum hold", duration)));
    }

    @Override
    public LeaseLock notFreeBefore(Duration duration) {
        return with(request.notFreeBefore(Limits.duration("time before it is free", duration)));
    }

    private NamedLease with(Request changed) {
        return new NamedLease(engine, names, changed);
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return engine.run(engine.grants.tryAcquire(names, request)).map(LeaseHandle::heldByThisThread);
    }

    @Override
    public Lease acquire(Wait wait) {
        Objects.requireNonNull(wait, "wait");
        if (!wait.equals(Wait.none())) {
            return engine.acquire(names, request, wait);
        }
        Grants.Outcome outcome = engine.run(engine.grants.attempt(names, request, 0));
        if (!outcome.answer().granted()) {
            throw new AlreadyLockedException(
                    names.get(0), engine.run(engine.grants.holder(names, outcome.answer())), "");
        }
        return engine.run(engine.grants.granted(names, request, outcome)).heldByThisThread();
    }

    /**
     * Takes the lease for a caller without a deadline who ignores interrupts and may wait for the database: a free lock costs no
     * other thread.
     */
    private Lease acquireHere() {
        return engine.tryIfQuiet(names, request)
                .<Lease>map(LeaseHandle::heldByThisThread)
                .orElseGet(() -> engine.acquire(names, request, Wait.forever()));
    }

    @Override
    public CompletionStage<Lease> acquireAsync(Wait wait) {
        return engine.acquireAsync(names, request, Objects.requireNonNull(wait, "wait"));
    }

    @Override
    public <X extends Exception> boolean tryRun(Locks.Task<X> task) throws X {
        Objects.requireNonNull(task, "task");
        Optional<Lease> lease = unseen().tryAcquire();
        if (lease.isEmpty()) {
            return false;
        }
        try (Lease held = lease.get()) {
            task.run();
        }
        return true;
    }

    @Override
    public <X extends Exception> void run(Wait wait, Locks.Task<X> task) throws X {
        Objects.requireNonNull(task, "task");
        try (Lease held = unseen().acquire(wait)) {
            task.run();
        }
    }

    @Override
    public <T, X extends Exception> T call(Wait wait, Locks.Call<T, X> call) throws X {
        Objects.requireNonNull(call, "call");
        try (Lease held = unseen().acquire(wait)) {
            return call.call();
        }
    }

    @Override
    public Lock asLock() {
        NamedLease unseen = unseen();
        return new ThreadLock(unseen, unseen::acquireHere, names.get(0));
    }

    private NamedLease unseen() {
        return with(request.asUnseen());
    }

    @Override
    public String toString() {
        return "LeaseLock" + names;
    }
}
