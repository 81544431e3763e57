// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.spring.Locked.Kind;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A lock that is held by one or more: the calls that run under it and the transactions that keep it until they have ended. The last
 * one gives it back. Thread-safe.
 */
final class Holding {

    private static final Log log = LogFactory.getLog(Holding.class);

    /** What a lease and a session lock have in common. */
    private interface Handle {
        boolean isHeld();

        void close();
    }

    private final LockName name;
    private final Kind kind;
    private final Handle handle;
    private final @Nullable Lease lease;
    private final AtomicInteger users = new AtomicInteger(1);
    private volatile boolean committed;
    private volatile boolean pinned;

    private Holding(LockName name, Kind kind, Handle handle, @Nullable Lease lease) {
        this.name = name;
        this.kind = kind;
        this.handle = handle;
        this.lease = lease;
    }

    /** Waits for it; the exceptions are Bitjang's. */
    static Holding acquire(Locks locks, LockRequest request) {
        if (request.kind() == Kind.LEASE) {
            return of(request.lease(locks).acquire(request.patience()));
        }
        SessionLock.Hold hold = locks.session(request.name()).acquire(request.patience());
        Handle handle = new Handle() {
            @Override
            public boolean isHeld() {
                return hold.isHeld();
            }

            @Override
            public void close() {
                hold.close();
            }
        };
        return new Holding(request.name(), Kind.SESSION, handle, null);
    }

    static Holding of(Lease lease) {
        Handle handle = new Handle() {
            @Override
            public boolean isHeld() {
                return lease.isHeld();
            }

            @Override
            public void close() {
                lease.close();
            }
        };
        return new Holding(lease.name(), Kind.LEASE, handle, lease);
    }

    boolean isOf(LockRequest request) {
        return kind == request.kind() && name.equals(request.name());
    }

    boolean canGuard() {
        return lease != null;
    }

    /** Guards the transaction of this connection. */
    void guard(Connection connection) {
        if (lease == null) {
            throw new IllegalStateException("A session lock has no guard");
        }
        lease.guard(connection);
    }

    /** As far as it is known. */
    void requireHeld() {
        if (!handle.isHeld()) {
            throw new NoLockException(name, name + " was lost: what was done under it must not be committed", null);
        }
    }

    /** One more holds it. */
    Holding join() {
        users.incrementAndGet();
        return this;
    }

    /** An open transaction has guarded itself with it, or has ended. */
    void pinned(boolean now) {
        pinned = now;
    }

    boolean isPinned() {
        return pinned;
    }

    /** A transaction has been committed while this lock was held for certain. */
    void committed() {
        committed = true;
    }

    /**
     * One less holds it.
     *
     * @param failure what happened under it: that wins over what goes wrong here
     */
    void leave(@Nullable Throwable failure) {
        if (users.decrementAndGet() > 0) {
            return;
        }
        try {
            handle.close();
        } catch (LockException e) {
            if (failure != null) {
                failure.addSuppressed(e);
            } else if (committed) {
                // thrown, it would make a retry do again what has been done, and under the lock
                log.warn("Lost after a guarded transaction had been committed: " + e.getMessage());
            } else {
                throw LockExceptions.translate(e);
            }
        }
    }

    /** One less holds it, where nobody could be told. */
    void leaveQuietly() {
        try {
            leave(null);
        } catch (RuntimeException e) {
            log.warn("Lost before it was given back: " + e.getMessage());
        }
    }

    @Override
    public String toString() {
        return kind + " " + name;
    }
}
