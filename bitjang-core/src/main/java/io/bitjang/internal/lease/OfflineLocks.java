// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Answer;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Offline locks over the engine. Thread-safe. */
public final class OfflineLocks implements LockManager {

    private final LeaseEngine engine;
    private final LockStore store;

    /** Over this engine. */
    public OfflineLocks(LeaseEngine engine) {
        this.engine = engine;
        this.store = engine.store;
    }

    @Override
    public LockId tryLock(String type, String id) {
        return tryLock(type, id, engine.settings().owner());
    }

    @Override
    public LockId tryLock(String type, String id, String owner) {
        return tryLock(type, id, owner, engine.settings().offline());
    }

    @Override
    public LockId tryLock(String type, String id, String owner, Duration duration) {
        return tryLock(type, id, owner, duration, null);
    }

    @Override
    public LockId tryLock(String type, String id, String owner, Duration duration, @Nullable String note) {
        LockName name = LockName.of(type, id);
        Request request = Request.of(
                Limits.owner(owner),
                Limits.duration("duration of a lock", duration),
                note == null ? null : Limits.note(note));
        Answer answer = engine.attempt(List.of(name), request, 0).answer();
        if (!answer.granted()) {
            throw new AlreadyLockedException(name, holder(name, answer), "");
        }
        return new GrantKey(name, answer.fence(), answer.grantedSecret()).toLockId();
    }

    /** Where the attempt itself could not tell the holder, a second read may. */
    private @Nullable LockData holder(LockName name, Answer answer) {
        LockRow row = answer.holder();
        if (row == null || !row.held()) {
            row = engine.attempts
                    .repeatable(name, "could not be read", () -> store.read(name))
                    .orElse(null);
        }
        return row == null ? null : row.toData();
    }

    @Override
    public LockData checkLock(LockId lockId) {
        GrantKey key = open(lockId);
        return engine.attempts
                .repeatable(key.name(), "could not be checked", () -> store.check(key.name(), key.secret()))
                .map(LockRow::toData)
                .orElseThrow(() -> notHeld(key));
    }

    private NoLockException notHeld(GrantKey key) {
        LockRow row = engine.attempts
                .repeatable(key.name(), "could not be checked", () -> store.read(key.name()))
                .orElse(null);
        String why = OwnRow.whyGone(row, key);
        return new NoLockException(
                key.name(), key.name() + " is not held under this lock id (fence " + key.fence() + "): " + why, null);
    }

    @Override
    public LockData checkLock(Connection connection, LockId lockId) {
        return pin(connection, lockId).toData();
    }

    private LockRow pin(Connection connection, LockId lockId) {
        Objects.requireNonNull(connection, "connection");
        GrantKey key = open(lockId);
        engine.guard.requireTransaction(connection);
        try {
            return engine.guard.pin(connection, key);
        } catch (DatabaseException e) {
            throw Attempts.failed(key.name(), "could not be guarded", e);
        }
    }

    @Override
    public void releaseLock(LockId lockId) {
        engine.releases.releaseNow(open(lockId), null);
    }

    @Override
    public void releaseLock(Connection connection, LockId lockId) {
        pin(connection, lockId);
        GrantKey key = GrantKey.of(lockId);
        try {
            if (!engine.guard.release(connection, key)) {
                throw GuardSql.refuse(
                        connection,
                        new NoLockException(key.name(), key.name() + " is not held under this lock id any more", null));
            }
        } catch (DatabaseException e) {
            throw Attempts.failed(key.name(), "could not be released", e);
        }
    }

    @Override
    public Instant extendLockExpiration(LockId lockId, Duration increment) {
        GrantKey key = open(lockId);
        long micros = Limits.micros(Limits.duration("increment", increment));
        // never repeated after an unknown outcome: it might be added twice
        long expiry = engine.attempts.once(
                key.name(),
                "could not be extended",
                () -> engine.ownRow.change(
                        key, "extended", false, () -> store.extend(key.name(), key.secret(), micros)));
        return prolonged(key, expiry);
    }

    @Override
    public Instant renew(LockId lockId, Duration duration) {
        return expiry(lockId, "renewed", duration, (key, micros) -> store.renew(key.name(), key.secret(), micros));
    }

    @Override
    public Instant leave(LockId lockId, Duration within) {
        return expiry(lockId, "left", within, (key, micros) -> store.leave(key.name(), key.secret(), micros));
    }

    /** A change of the expiry. */
    private interface ExpiryChange {
        OptionalLong apply(GrantKey key, long micros);
    }

    private Instant expiry(LockId lockId, String what, Duration duration, ExpiryChange change) {
        GrantKey key = open(lockId);
        long micros = Limits.micros(Limits.duration("duration", duration));
        return prolonged(
                key,
                engine.attempts.repeatable(
                        key.name(),
                        "could not be " + what,
                        () -> engine.ownRow.change(key, what, false, () -> change.apply(key, micros))));
    }

    private Instant prolonged(GrantKey key, long expiry) {
        engine.events.tell(Kind.RENEWED, List.of(key.name()), key.fence(), null, null);
        return LockRow.instant(expiry);
    }

    private GrantKey open(LockId lockId) {
        engine.requireOpen();
        return GrantKey.of(Objects.requireNonNull(lockId, "lockId"));
    }
}
