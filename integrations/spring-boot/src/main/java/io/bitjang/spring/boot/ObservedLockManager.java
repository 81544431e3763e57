// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.spring.LockObserver;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock manager whose attempts to take a lock are observed, and whose releases with a transaction of the caller's are told to the
 * listeners when that has committed: the locks themselves don't learn of it. Thread-safe.
 */
final class ObservedLockManager implements LockManager {

    private static final LockObserver NOBODY = new LockObserver() {
        @Override
        public <T> T around(String operation, LockName name, Supplier<T> attempt) {
            return attempt.get();
        }
    };

    private final LockManager manager;
    private final LockObserver observer;
    private final ReleaseEvents releases;

    ObservedLockManager(LockManager manager, @Nullable LockObserver observer, ReleaseEvents releases) {
        this.manager = manager;
        this.observer = observer == null ? NOBODY : observer;
        this.releases = releases;
    }

    @Override
    public LockId tryLock(String type, String id) {
        return observer.around("tryLock", LockName.of(type, id), () -> manager.tryLock(type, id));
    }

    @Override
    public LockId tryLock(String type, String id, String owner) {
        return observer.around("tryLock", LockName.of(type, id), () -> manager.tryLock(type, id, owner));
    }

    @Override
    public LockId tryLock(String type, String id, String owner, Duration duration) {
        return observer.around("tryLock", LockName.of(type, id), () -> manager.tryLock(type, id, owner, duration));
    }

    @Override
    public LockId tryLock(String type, String id, String owner, Duration duration, @Nullable String note) {
        return observer.around(
                "tryLock", LockName.of(type, id), () -> manager.tryLock(type, id, owner, duration, note));
    }

    @Override
    public Optional<LockId> takeOver(
            LockData seen, String owner, Duration duration, @Nullable String note, String reason) {
        return observer.around("takeOver", seen.name(), () -> manager.takeOver(seen, owner, duration, note, reason));
    }

    @Override
    public LockData checkLock(LockId lockId) {
        return manager.checkLock(lockId);
    }

    @Override
    public LockData checkLock(Connection connection, LockId lockId) {
        return manager.checkLock(connection, lockId);
    }

    @Override
    public void releaseLock(LockId lockId) {
        manager.releaseLock(lockId);
    }

    @Override
    public void releaseLock(Connection connection, LockId lockId) {
        manager.releaseLock(connection, lockId);
        releases.withCommit(lockId);
    }

    @Override
    public Instant extendLockExpiration(LockId lockId, Duration increment) {
        return manager.extendLockExpiration(lockId, increment);
    }

    @Override
    public Instant renew(LockId lockId, Duration duration) {
        return manager.renew(lockId, duration);
    }

    @Override
    public Instant leave(LockId lockId, Duration within) {
        return manager.leave(lockId, within);
    }
}
