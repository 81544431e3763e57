// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import java.sql.Connection;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A session lock by name. Immutable. */
public final class NamedSession implements SessionLock {

    private final SessionEngine engine;
    private final LockName name;

    /** Makes a session lock of this name. */
    public NamedSession(SessionEngine engine, LockName name) {
        this.engine = engine;
        this.name = name;
    }

    @Override
    public Optional<Hold> tryAcquire() {
        return Optional.ofNullable(engine.tryAcquire(name));
    }

    @Override
    public Hold acquire(Wait wait) {
        Objects.requireNonNull(wait, "wait");
        if (!wait.equals(Wait.none())) {
            return engine.acquire(name, wait);
        }
        @Nullable Hold hold = engine.tryAcquire(name);
        if (hold == null) {
            throw new AlreadyLockedException(name, null, "");
        }
        return hold;
    }

    @Override
    public <X extends Exception> boolean tryRun(Locks.Task<X> task) throws X {
        Objects.requireNonNull(task, "task");
        @Nullable Hold hold = engine.tryAcquire(name);
        if (hold == null) {
            return false;
        }
        try (hold) {
            task.run();
        }
        return true;
    }

    @Override
    public <X extends Exception> void run(Wait wait, Locks.Task<X> task) throws X {
        Objects.requireNonNull(task, "task");
        try (Hold held = acquire(wait)) {
            task.run();
        }
    }

    @Override
    public <T, X extends Exception> T call(Wait wait, Locks.Call<T, X> call) throws X {
        Objects.requireNonNull(call, "call");
        try (Hold held = acquire(wait)) {
            return call.call();
        }
    }

    @Override
    public <T> T executeWithLock(Duration wait, Supplier<T> body) {
        Objects.requireNonNull(body, "body");
        return call(Wait.upTo(wait), body::get);
    }

    @Override
    public <T, X extends Exception> T callInTransaction(Connection connection, Wait wait, Locks.Call<T, X> call)
            throws X {
        Objects.requireNonNull(connection, "connection");
        Objects.requireNonNull(wait, "wait");
        Objects.requireNonNull(call, "call");
        engine.requireOpen();
        return engine.transactions.call(connection, name, wait, call);
    }

    @Override
    public String toString() {
        return "SessionLock[" + name + "]";
    }
}
