// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Deadline;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Offline locks over the engine. Thread-safe. */
public final class OfflineLocks implements LockManager {

    private final LeaseEngine engine;
    private final LockStore store;

    /** Makes offline locks over this engine. */
    public OfflineLocks(LeaseEngine engine) {
        this.engine = engine;
        this.store = engine.instance.store;
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
        Request request = request(owner, duration, note);
        ClaimResult answer =
                engine.run(engine.grants.attempt(List.of(name), request, 0)).answer();
        if (!answer.granted()) {
            throw new AlreadyLockedException(name, engine.run(engine.grants.holder(List.of(name), answer)), "");
        }
        return lockId(name, answer);
    }

    private static Request request(String owner, Duration duration, @Nullable String note) {
        return Request.of(
                Limits.owner(owner),
                Limits.duration("duration of a lock", duration),
                note == null ? null : Limits.note(note));
    }

    private static LockId lockId(LockName name, ClaimResult answer) {
        return new GrantKey(name, answer.fence(), answer.grantedSecret()).toLockId();
    }

    @Override
    public Optional<LockId> takeOver(
            LockData seen, String owner, Duration duration, @Nullable String note, String reason) {
        LockName name = seen.name();
        Request request = request(owner, duration, note);
        String why = Limits.reason(reason);
        engine.requireOpen();
        Deadline budget = engine.instance.ticker.in(Operator.FORCE_BUDGET);
        ClaimResult answer = engine.run(engine.grants.takeOver(name, seen.fence(), request));
        while (!answer.granted()) {
            Optional<LockRow> row = engine.read(name);
            if (row.isEmpty() || row.get().lockId() == null || row.get().fence() != seen.fence()) {
                return Optional.empty();
            }
            if (budget.passed()) {
                throw Operator.stayedTaken(name, row.get().reserved() > 0);
            }
            engine.instance.ticker.pause(name, 20);
            answer = engine.run(engine.grants.takeOver(name, seen.fence(), request));
        }
        engine.instance.events.tell(Kind.TAKEN_OVER, List.of(name), answer.fence(), owner, why);
        engine.takenAway(name, seen.fence(), Gone.lost("it was taken over by " + owner + ": " + why));
        if (engine.settings().audit()) {
            engine.run(engine.grants.audit(name, answer.fence(), why));
        }
        return Optional.of(lockId(name, answer));
    }

    @Override
    public LockData checkLock(LockId lockId) {
        GrantKey key = open(lockId);
        return engine.run(engine.heldRow.repeatable(
                        key.name(), "could not be checked", store.check(key.name(), key.secret())))
                .map(LockRow::toData)
                .orElseThrow(() -> Objects.requireNonNullElse(
                                Gone.of(engine.read(key.name()).orElse(null), key), Gone.lost("it expired"))
                        .notHeld(key, "", null));
    }

    @Override
    public LockData checkLock(Connection connection, LockId lockId) {
        return pin(connection, lockId).toData();
    }

    private LockRow pin(Connection connection, LockId lockId) {
        GuardSql guard = engine.guardFor(Objects.requireNonNull(connection, "connection"));
        return guard.pin(connection, GrantKey.of(Objects.requireNonNull(lockId, "lockId")), gone -> {});
    }

    @Override
    public void releaseLock(LockId lockId) {
        engine.run(engine.releases.releaseNow(open(lockId), null, () -> {}));
    }

    @Override
    public void releaseLock(Connection connection, LockId lockId) {
        pin(connection, lockId);
        engine.guard.release(connection, GrantKey.of(lockId));
    }

    @Override
    public Instant extendLockExpiration(LockId lockId, Duration increment) {
        GrantKey key = open(lockId);
        long micros = Limits.micros(Limits.duration("increment", increment));
        // never repeated after an unknown outcome: it might be added twice
        long expiry = engine.run(engine.heldRow.once(
                key.name(),
                "could not be extended",
                engine.heldRow.change(key, "extended", store.extend(key.name(), key.secret(), micros))));
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

    private Instant expiry(
            LockId lockId, String what, Duration duration, BiFunction<GrantKey, Long, Plan<OptionalLong>> change) {
        GrantKey key = open(lockId);
        long micros = Limits.micros(Limits.duration("duration", duration));
        return prolonged(
                key,
                engine.run(engine.heldRow.repeatable(
                        key.name(),
                        "could not be " + what,
                        engine.heldRow.change(key, what, change.apply(key, micros)))));
    }

    private Instant prolonged(GrantKey key, long expiry) {
        engine.instance.events.tell(Kind.RENEWED, List.of(key.name()), key.fence(), null, null);
        return LockRow.instant(expiry);
    }

    private GrantKey open(LockId lockId) {
        engine.requireOpen();
        return GrantKey.of(Objects.requireNonNull(lockId, "lockId"));
    }
}
