// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads and changes rows whose locks the caller holds. What may be repeated is repeated for a moment. An update that changed nothing
 * has two reasons, which a read tells apart: the lock is gone, or its row is locked by a transaction right now. Thread-safe.
 */
final class HeldRow {

    /** How long one call goes on repeating, or waits for a transaction that has the row locked; it repeats once at least. */
    private static final Duration BUDGET = Duration.ofSeconds(1);

    /**
     * What came of a change of the row.
     *
     * @param answer the update's number, if it was made
     * @param gone why the lock is not held any more, if so; if neither, the row stayed locked
     */
    record Result(OptionalLong answer, @Nullable Gone gone) {}

    private final Ticker ticker;
    private final LockStore store;

    HeldRow(Ticker ticker, LockStore store) {
        this.ticker = ticker;
        this.store = store;
    }

    /**
     * Changes the row, waiting up to {@code patience} while it is locked. An interrupt from before does not end that: what is
     * held must be given back all the same.
     */
    Plan<Result> attempt(GrantKey key, boolean lapsedToo, Duration patience, Plan<OptionalLong> update) {
        return Plan.later(() -> attempt(key, lapsedToo, ticker.in(patience), update))
                .deaf();
    }

    private Plan<Result> attempt(GrantKey key, boolean lapsedToo, Deadline budget, Plan<OptionalLong> update) {
        return update.ifFailed(e -> e.isLocked() ? Plan.of(OptionalLong.empty()) : Plan.failed(e))
                .then(answer -> answer.isPresent()
                        ? Plan.of(new Result(answer, null))
                        : store.read(key.name()).then(row -> {
                            @Nullable Gone gone = Gone.of(row.orElse(null), key);
                            boolean lapsed = row.isPresent() && row.get().isOf(key.secret());
                            if (gone != null && !(lapsedToo && lapsed)) {
                                return Plan.of(new Result(answer, gone));
                            }
                            return budget.passed()
                                    ? Plan.of(new Result(answer, null))
                                    : new Plan.Pause(4)
                                            .then(paused -> paused
                                                    ? attempt(key, lapsedToo, budget, update)
                                                    : Plan.of(new Result(answer, null)));
                        }));
    }

    /** Changes the row and returns the update's number, or throws the reason why it could not. */
    Plan<Long> change(GrantKey key, String what, Plan<OptionalLong> update) {
        return attempt(key, false, BUDGET, update).map(result -> {
            if (result.gone != null) {
                throw result.gone.notHeld(key, "", null);
            }
            return result.answer.orElseThrow(() -> stayedLocked(key, what));
        });
    }

    /** Does an operation that may be repeated: it only reads, or is matched on a lock id. */
    <T extends @Nullable Object> Plan<T> repeatable(LockName name, String what, Plan<T> operation) {
        return Plan.later(() -> repeatable(name, what, operation, 1, ticker.in(BUDGET)));
    }

    private <T extends @Nullable Object> Plan<T> repeatable(
            LockName name, String what, Plan<T> operation, int tries, Deadline budget) {
        return operation.ifFailed(e -> e.meaning() == Meaning.FAILED || tries > 1 && budget.passed()
                ? Plan.failed(e.toFailure(name, what))
                : pause(name, 4).then(paused -> repeatable(name, what, operation, tries + 1, budget)));
    }

    /** Does an operation that is repeated only if the database says that it was not applied. */
    <T extends @Nullable Object> Plan<T> once(LockName name, String what, Plan<T> operation) {
        return repeatable(
                name,
                what,
                operation.ifFailed(e -> Plan.failed(
                        e.meaning() == Meaning.UNKNOWN
                                ? e.toFailure(name, what + ": what became of it is not known")
                                : e)));
    }

    /** Sleeps for a random part of the time; an interrupt ends the plan. */
    static Plan<Boolean> pause(LockName name, long millis) {
        return new Plan.Pause(millis).then(paused -> paused ? Plan.of(true) : Plan.failed(Ticker.interrupted(name)));
    }

    static LockingFailException stayedLocked(GrantKey key, String what) {
        return new LockingFailException(
                key.name(), key.name() + " could not be " + what + ": its row is locked by an open transaction", null);
    }
}
