// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.LeaseLock;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spring.Locked.Kind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Which lock is wanted, and how. Null is what the {@link Locks} have as default. */
public record LockRequest(
        LockName name,
        Kind kind,
        Wait patience,
        @Nullable Duration lasting,
        @Nullable Duration maxHold,
        @Nullable Duration notFreeBefore) {

    /** With the defaults. */
    public static LockRequest of(LockName name, Kind kind, Wait wait) {
        return new LockRequest(name, kind, wait, null, null, null);
    }

    /** The same for another lock. */
    public LockRequest named(LockName changed, Wait changedWait) {
        return new LockRequest(changed, kind, changedWait, lasting, maxHold, notFreeBefore);
    }

    /** With another kind of lock. */
    public LockRequest kind(Kind changed) {
        LockRequest request = new LockRequest(name, changed, patience, lasting, maxHold, notFreeBefore);
        if (lasting != null || maxHold != null || notFreeBefore != null) {
            request.leaseOnly();
        }
        return request;
    }

    /** With a lease of this duration. */
    public LockRequest lasting(Duration duration) {
        return new LockRequest(name, leaseOnly(), patience, duration, maxHold, notFreeBefore);
    }

    /** Renewed for at most this long. */
    public LockRequest maxHold(Duration duration) {
        return new LockRequest(name, leaseOnly(), patience, lasting, duration, notFreeBefore);
    }

    /** Taken for at least this long. */
    public LockRequest notFreeBefore(Duration duration) {
        return new LockRequest(name, leaseOnly(), patience, lasting, maxHold, duration);
    }

    private Kind leaseOnly() {
        if (kind != Kind.LEASE) {
            throw new IllegalStateException(
                    "A session lock has no duration, maximum hold or time before it is free: it is"
                            + " held while its session lives. Use the kind LEASE for these.");
        }
        return kind;
    }

    LeaseLock lease(Locks locks) {
        LeaseLock lock = locks.lease(name);
        lock = lasting == null ? lock : lock.lasting(lasting);
        lock = maxHold == null ? lock : lock.maxHold(maxHold);
        return notFreeBefore == null ? lock : lock.notFreeBefore(notFreeBefore);
    }
}
