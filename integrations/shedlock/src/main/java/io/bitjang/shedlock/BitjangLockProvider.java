// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockManager;
import io.bitjang.Locks;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.Utils;

/**
 * ShedLock on Bitjang. A job's lock has the type {@value #TYPE} and the job's name as its id, so operators see it among the others.
 *
 * <p>It is taken for {@code lockAtMostFor} and not renewed: it ends then even if the job hangs, unless the job extends it. Unlocked
 * before {@code lockAtLeastFor} has passed, it becomes free at that time. All times are counted by the database's clock.
 *
 * <p>Each lock is known by an id of its own, not by the host: whoever has lost a lock can neither extend nor unlock the next
 * holder's. An extension then answers empty, and an unlock leaves a warning in the log: it does not throw, because that would hide
 * what the job itself has thrown.
 *
 * <p>If the database fails, every operation throws {@link io.bitjang.LockingFailException}; an empty answer always means that
 * another has the lock. Thread-safe.
 */
public final class BitjangLockProvider implements ExtensibleLockProvider {

    /** The type of the locks. */
    public static final String TYPE = "shedlock";

    private final LockManager manager;
    private final String owner;

    /** Takes locks in the name of this host. */
    public BitjangLockProvider(Locks locks) {
        this(locks, Utils.getHostname());
    }

    /** Takes locks in this name: a label for people, it gives no right. */
    public BitjangLockProvider(Locks locks, String owner) {
        this.manager = locks.manager();
        this.owner = Objects.requireNonNull(owner, "owner");
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        return take(configuration).map(lock -> lock);
    }

    Optional<JobLock> take(LockConfiguration configuration) {
        try {
            return Optional.of(new JobLock(
                    manager,
                    manager.tryLock(TYPE, configuration.getName(), owner, configuration.getLockAtMostFor()),
                    configuration,
                    null));
        } catch (AlreadyLockedException e) {
            return Optional.empty();
        }
    }

    /**
     * This provider and another together, for the time in which a cluster moves from one to the other: a job runs only if both give
     * their lock, so it excludes nodes that know only one of them. Two nodes that know only one each do not exclude each other.
     *
     * @param old the provider that the other nodes still use; an extension works if it supports it, too
     */
    public ExtensibleLockProvider alongside(LockProvider old) {
        return new BothProviders(this, Objects.requireNonNull(old, "old"));
    }
}
