// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.internal.sql.CallerSession;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Locks on the session of a caller's connection, for one transaction. The database alone decides who has them. A call inside
 * another one on the same connection joins its transaction. Thread-safe.
 */
final class TransactionScope {

    private static final Duration ONE_SECOND = Duration.ofSeconds(1);
    private static final long LONGEST_PAUSE_MILLIS = 20;

    private final Ticker ticker;
    private final SessionStore store;
    private final Map<Connection, CallerSession> open = Collections.synchronizedMap(new IdentityHashMap<>());

    TransactionScope(SessionStore store, Ticker ticker) {
        this.ticker = ticker;
        this.store = store;
    }

    /** Takes the lock, calls the body and, if it is the outermost call, ends the transaction. */
    <T, X extends Exception> T call(Connection connection, LockName name, Wait wait, Locks.Call<T, X> call) throws X {
        try {
            @Nullable CallerSession outer = open.get(connection);
            return outer != null ? inner(outer, name, wait, call) : outermost(connection, name, wait, call);
        } catch (DatabaseException e) {
            throw e.toFailure(name, "could not be held for the transaction");
        }
    }

    private <T, X extends Exception> T outermost(Connection connection, LockName name, Wait wait, Locks.Call<T, X> call)
            throws X {
        CallerSession session = store.on(connection, name);
        open.put(connection, session);
        try {
            take(session, name, wait);
            T result;
            try {
                result = call.call();
                requireUnspoiled(session, name);
            } catch (Throwable e) {
                session.rollback(e);
                throw e;
            }
            session.commit();
            return result;
        } finally {
            open.remove(connection);
        }
    }

    private <T, X extends Exception> T inner(CallerSession outer, LockName name, Wait wait, Locks.Call<T, X> call)
            throws X {
        requireUnspoiled(outer, name);
        take(outer, name, wait);
        try {
            return call.call();
        } catch (Throwable e) {
            outer.spoil(e);
            throw e;
        }
    }

    private static void requireUnspoiled(CallerSession session, LockName name) {
        @Nullable Throwable because = session.spoiledBy();
        if (because != null) {
            throw new LockException(
                    name, "The transaction can't be committed: a call inside it failed with " + because, because);
        }
    }

    private void take(CallerSession session, LockName name, Wait wait) {
        Deadline deadline = ticker.in(wait.limit());
        Object key = store.key(name);
        try {
            while (!session.attempt(key)) {
                if (Thread.currentThread().isInterrupted()) {
                    throw new LockException(name, "Interrupted while waiting for " + name, null);
                }
                if (deadline.passed()) {
                    throw new AlreadyLockedException(
                            name, null, wait.equals(Wait.none()) ? "" : " (waited " + wait + ")");
                }
                if (!session.canWait() || deadline.remainingNanos() < ONE_SECOND.toNanos()) {
                    ticker.pause(name, Math.min(LONGEST_PAUSE_MILLIS, 1 + deadline.remainingNanos() / 1_000_000));
                } else if (session.await(key)) {
                    return;
                }
            }
        } catch (DatabaseException e) {
            if (e.meaning() != DatabaseException.Meaning.REPEAT) {
                throw e;
            }
            LockDeadlockException deadlock = new LockDeadlockException(
                    List.of(name),
                    "Waiting for " + name + " would never end, says the server: " + e.getMessage(),
                    e.sqlException());
            session.rollback(deadlock);
            session.spoil(deadlock);
            throw deadlock;
        }
    }
}
