// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.admin.AuditEntry;
import io.bitjang.admin.LocalLock;
import io.bitjang.admin.LockAdmin;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import io.bitjang.internal.sql.AdminSql;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.Texts;
import io.bitjang.internal.time.Deadline;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The operator's view of the engine. Thread-safe. */
public final class Operator implements LockAdmin {

    /** How long a forced release waits for a guarded transaction to end. */
    static final Duration FORCE_BUDGET = Duration.ofSeconds(2);

    /**
     * How long a forced release waits until a lock that passes on inside a process is settled; one that is not belongs to a
     * process that does not answer.
     */
    private static final Duration SETTLING = Duration.ofMillis(500);

    private static final Duration LEAST_IDLE = Duration.ofHours(1);

    private final LeaseEngine engine;
    private final AdminSql sql;
    private final Supplier<List<LocalLock>> sessions;

    /**
     * Makes an operator's view of this engine.
     *
     * @param sessions what is known of session locks, which are none of the engine's business
     */
    public Operator(LeaseEngine engine, Supplier<List<LocalLock>> sessions) {
        this.engine = engine;
        this.sessions = sessions;
        this.sql = engine.instance.store.admin();
    }

    @Override
    public List<LockData> list(LockFilter filter) {
        Objects.requireNonNull(filter, "filter");
        return reading(sql.list(filter)).stream().map(LockRow::toData).toList();
    }

    @Override
    public Optional<LockData> find(LockName name) {
        Objects.requireNonNull(name, "name");
        return reading(engine.instance.store.read(name)).map(LockRow::toData);
    }

    @Override
    public List<LocalLock> here() {
        return Stream.concat(engine.here().stream(), sessions.get().stream())
                .sorted(Comparator.comparing(LocalLock::name).thenComparing(LocalLock::kind))
                .toList();
    }

    @Override
    public LockCounts counts() {
        return reading(sql.counts());
    }

    @Override
    public boolean forceRelease(LockName name, long expectedFence, String by, String reason) {
        Objects.requireNonNull(name, "name");
        engine.requireOpen();
        String who = Limits.owner(by);
        String why = Limits.reason(reason);
        Deadline budget = engine.instance.ticker.in(FORCE_BUDGET);
        Deadline settling = engine.instance.ticker.in(SETTLING);
        long seen = -1;
        while (true) {
            @Nullable LockRow row = reading(engine.instance.store.read(name)).orElse(null);
            // tried in any case: who may not write is to hear of it even if there is nothing to take away
            if (forced(name, expectedFence, who, why, settling.passed())) {
                events(Kind.FORCE_RELEASED, name, expectedFence, row == null ? null : row.owner(), who + ": " + why);
                engine.takenAway(name, expectedFence, Gone.takenAway(who + ": " + why));
                return true;
            }
            if (row == null || row.lockId() == null || !row.covers(expectedFence)) {
                return false;
            }
            if (row.fence() != seen) {
                seen = row.fence();
                settling = engine.instance.ticker.in(SETTLING);
            }
            if (budget.passed()) {
                throw stayedTaken(name, false);
            }
            engine.instance.ticker.pause(name, 20);
        }
    }

    /** Makes the exception that says what keeps a lock: a guard, or a process that alone knows which of its threads has it. */
    static LockingFailException stayedTaken(LockName name, boolean unsettled) {
        String why = unsettled
                ? "it passes from thread to thread in a process that has not written down who has it for %s seconds,"
                        + " and has perhaps ended. Try again, take it away (LockAdmin.forceRelease), or wait until it"
                        + " expires."
                : "a transaction that guards it has been open for %s seconds. Try again.";
        return new LockingFailException(
                name, name + " can't be taken away now: " + why.formatted(FORCE_BUDGET.toSeconds()), null);
    }

    private boolean forced(LockName name, long fence, String by, String reason, boolean unsettled) {
        try {
            return engine.run(
                    sql.force(name, fence, by, reason, engine.settings().audit(), unsettled));
        } catch (DatabaseException e) {
            if (e.meaning() == DatabaseException.Meaning.FAILED) {
                throw e.toFailure(name, "could not be taken away");
            }
            // busy, or not known: the loop reads what became of it
            return e.meaning() == DatabaseException.Meaning.UNKNOWN && wasForced(name, fence);
        }
    }

    private boolean wasForced(LockName name, long fence) {
        return reading(engine.instance.store.read(name))
                .filter(row -> row.covers(fence) && row.lockId() == null && row.forced() != null)
                .isPresent();
    }

    @Override
    public int sweep(Duration idleFor) {
        if (Limits.duration("idle time", idleFor).compareTo(LEAST_IDLE) < 0) {
            throw new IllegalArgumentException(
                    "Rows idle for less than " + Texts.of(LEAST_IDLE) + " are not swept: " + Texts.of(idleFor));
        }
        long micros = Limits.micros(idleFor);
        int swept = 0;
        while (true) {
            List<AdminSql.Idle> batch = reading(sql.idle(micros));
            int before = swept;
            for (AdminSql.Idle idle : batch) {
                if (delete(idle, micros)) {
                    events(Kind.SWEPT, idle.name(), idle.fence(), null, null);
                    swept++;
                }
            }
            if (batch.isEmpty() || swept == before) {
                return swept;
            }
        }
    }

    /** Deletes an idle row; one that is locked right now is in use, and is left alone. */
    private boolean delete(AdminSql.Idle idle, long micros) {
        try {
            return engine.run(sql.deleteIdle(idle, micros));
        } catch (DatabaseException e) {
            if (e.meaning() == DatabaseException.Meaning.FAILED) {
                throw e.toFailure(idle.name(), "could not be swept");
            }
            return false;
        }
    }

    @Override
    public List<AuditEntry> audit(int limit) {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("1 to 1,000 entries can be read, not " + limit);
        }
        return reading(sql.auditTrail(limit));
    }

    private void events(Kind kind, LockName name, long fence, @Nullable String owner, @Nullable String detail) {
        engine.instance.events.tell(kind, List.of(name), fence, owner, detail);
    }

    private <T> T reading(Plan<T> query) {
        engine.requireOpen();
        try {
            return engine.run(query);
        } catch (DatabaseException e) {
            throw new LockingFailException(null, "The locks could not be read. " + e.getMessage(), e.sqlException());
        }
    }
}
