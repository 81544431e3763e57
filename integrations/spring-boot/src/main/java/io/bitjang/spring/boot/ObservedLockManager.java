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
import org.jspecify.annotations.Nullable;

/** A lock manager whose attempts to take a lock are observed. Thread-safe. */
final class ObservedLockManager implements LockManager {

    private final LockManager manager;
    private final LockObserver observer;

    ObservedLockManager(LockManager manager, LockObserver observer) {
        this.manager = manager;
        this.observer = observer;
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
