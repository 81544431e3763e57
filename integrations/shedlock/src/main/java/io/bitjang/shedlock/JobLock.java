// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.NoLockException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

/** A lock that a job has. As ShedLock's own, it is used by one thread at a time. */
final class JobLock extends AbstractSimpleLock {

    private static final System.Logger LOG = System.getLogger("io.bitjang.shedlock");

    private final LockManager manager;
    private final LockId lockId;

    /** When it was extended, by the database's clock; null if it was not, then the grant's time counts. */
    private final @Nullable Instant extendedAt;

    JobLock(LockManager manager, LockId lockId, LockConfiguration configuration, @Nullable Instant extendedAt) {
        super(configuration);
        this.manager = manager;
        this.lockId = lockId;
        this.extendedAt = extendedAt;
    }

    @Override
    protected void doUnlock() {
        try {
            Duration left = leftOfAtLeast();
            if (left.isZero() || left.isNegative()) {
                manager.releaseLock(lockId);
            } else {
                manager.leave(lockId, left);
            }
        } catch (NoLockException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The job " + lockConfiguration.getName()
                            + " has lost its lock before it ended, so another may have run at the same time. "
                            + e.takenAwayBy()
                                    .map("The lock was taken away by "::concat)
                                    .orElseGet(() -> "Its lockAtMostFor is " + lockConfiguration.getLockAtMostFor()
                                            + ": make it longer than the job ever takes, or extend the lock. "
                                            + e.getMessage()));
        }
    }

    /** Frees it now: the job did not run, so nothing needs to be kept from running again. */
    void giveBack() {
        try {
            manager.releaseLock(lockId);
        } catch (NoLockException e) {
            LOG.log(System.Logger.Level.DEBUG, "Nothing to give back", e);
        }
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
        Duration atMost = extended.getLockAtMostFor();
        try {
            Instant until = manager.renew(lockId, atMost);
            if (atMost.compareTo(lockConfiguration.getLockAtMostFor()) < 0) {
                // renewing never shortens, but ShedLock's extension counts from now
                until = manager.leave(lockId, atMost);
            }
            return Optional.of(new JobLock(manager, lockId, extended, until.minus(atMost)));
        } catch (NoLockException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The lock of the job " + lockConfiguration.getName() + " can't be extended: " + e.getMessage());
            return Optional.empty();
        }
    }

    /** What is left of lockAtLeastFor; the database knows what time it is. */
    private Duration leftOfAtLeast() {
        Duration atLeast = lockConfiguration.getLockAtLeastFor();
        if (atLeast.isZero() || atLeast.isNegative()) {
            return Duration.ZERO;
        }
        LockData data = manager.checkLock(lockId);
        Instant now = Objects.requireNonNull(data.expiresAt()).minus(data.remaining());
        Instant begin = extendedAt != null ? extendedAt : Objects.requireNonNull(data.acquiredAt());
        return Duration.between(now, begin.plus(atLeast));
    }
}
