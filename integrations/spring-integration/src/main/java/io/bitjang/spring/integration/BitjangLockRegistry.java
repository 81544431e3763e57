// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import io.bitjang.LeaseLock;
import io.bitjang.LockName;
import io.bitjang.Locks;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.util.Assert;

/**
 * Spring Integration's lock registry on Bitjang. A lock is a lease: it is renewed in the background as long as this process lives,
 * with or without a time to live of its own, so it ends when it is unlocked, when the process dies, or when an operator takes it.
 *
 * <p>A lock is re-entrant for the thread that has it. Waiting ends in time and hears interrupts ({@code lock()} keeps the interrupt
 * flag for later). A failing database is a {@link io.bitjang.LockingFailException}, never a {@code false}. {@code unlock} after a
 * loss throws {@link java.util.ConcurrentModificationException}; an inner {@code lock} after a loss throws {@link io.bitjang.NoLockException}.
 * Conditions are not supported.
 *
 * <p>The registry remembers nothing but the locks that are held. Thread-safe.
 */
public final class BitjangLockRegistry
        implements RenewableLockRegistry<DistributedLock>, ExpirableLockRegistry<DistributedLock> {

    /** The type of the locks, unless a region is given. */
    public static final String TYPE = "spring-integration";

    private final Locks locks;
    private final Names names;
    private final @Nullable Duration ttl;
    private final Holds holds;
    private final @Nullable LockRegistry<?> old;

    /** With locks of the type {@value #TYPE}, which last as long as a lease of these locks does unless it is renewed. */
    public BitjangLockRegistry(Locks locks) {
        this(locks, new Names(TYPE), null, new Holds(), null);
    }

    /**
     * With a region and a time to live of its own.
     *
     * @param region the type of the locks: the same keys in another region are other locks
     * @param ttl how long a lock lasts unless it is renewed, which happens every third of it
     */
    public BitjangLockRegistry(Locks locks, String region, Duration ttl) {
        this(locks, new Names(region), Objects.requireNonNull(ttl, "ttl"), new Holds(), null);
        obtain("a ttl that can't be is refused here, not when the first lock is wanted");
    }

    private BitjangLockRegistry(
            Locks locks, Names names, @Nullable Duration ttl, Holds holds, @Nullable LockRegistry<?> old) {
        this.locks = Objects.requireNonNull(locks, "locks");
        this.names = names;
        this.ttl = ttl;
        this.holds = holds;
        this.old = old;
    }

    /**
     * This registry and another together, for the time in which a cluster moves from one to the other: a lock is taken only if both
     * give theirs, so it excludes nodes that know only one of them. Two nodes that know only one each do not exclude each other.
     *
     * @param registry what the other nodes still use
     */
    public BitjangLockRegistry alongside(LockRegistry<?> registry) {
        return new BitjangLockRegistry(locks, names, ttl, holds, Objects.requireNonNull(registry, "registry"));
    }

    /**
     * The lock with this key.
     *
     * @param lockKey a text: what another object calls itself may differ from node to node
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        RegistryLock lock = lock(lockKey);
        return old == null ? lock : new BothLocks(lock, old.obtain(lockKey));
    }

    private RegistryLock lock(Object lockKey) {
        Assert.isInstanceOf(String.class, lockKey, "The key of a lock must be a String: ");
        LockName name = names.of((String) lockKey);
        LeaseLock lease = locks.lease(name);
        return new RegistryLock(name, ttl == null ? lease : lease.lasting(ttl), holds);
    }

    /**
     * Renews the lock now, without waiting for the renewal in the background.
     *
     * @throws IllegalMonitorStateException if this thread does not have it
     * @throws IllegalStateException if it was lost
     */
    @Override
    public void renewLock(Object lockKey) {
        lock(lockKey).renew(Duration.ZERO);
        if (old instanceof RenewableLockRegistry<?> renewable) {
            renewable.renewLock(lockKey);
        }
    }

    /**
     * Renews the lock now.
     *
     * @param ttl how much must be left of it afterwards; not more than it was taken for
     * @throws IllegalMonitorStateException if this thread does not have it
     * @throws IllegalStateException if it was lost, or was taken for a shorter time to live
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        lock(lockKey).renew(ttl);
        if (old instanceof RenewableLockRegistry<?> renewable) {
            renewable.renewLock(lockKey, ttl);
        }
    }

    /**
     * Drops what this registry remembers of locks that are not in use. That is nothing: it remembers only what is held. Rows in the
     * database stay, because others have theirs in the same table; {@link io.bitjang.admin.LockAdmin#sweep} removes idle ones. What
     * stands {@linkplain #alongside alongside} drops its own.
     *
     * @param age in milliseconds
     */
    @Override
    public void expireUnusedOlderThan(long age) {
        if (old instanceof ExpirableLockRegistry<?> expirable) {
            expirable.expireUnusedOlderThan(age);
        }
    }

    /** How many locks are held here. */
    int held() {
        return holds.size();
    }
}
