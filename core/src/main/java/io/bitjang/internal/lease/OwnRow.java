// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticks;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A change of a row that the caller holds. An update that changed nothing has two reasons, which a read tells apart: the lock is
 * gone, or its row is locked by a transaction right now. Thread-safe.
 */
final class OwnRow {

    /** How long a caller waits for a transaction that has the row locked. */
    private static final Duration BUDGET = Duration.ofSeconds(1);

    /**
     * What came out.
     *
     * @param answer the update's number, if it was made
     * @param gone why the lock is not held any more, if so; if neither, the row stayed locked
     */
    record Result(OptionalLong answer, @Nullable String gone) {}

    private final LockStore store;

    OwnRow(LockStore store) {
        this.store = store;
    }

    /** Changes the row, waiting for so long while it is locked, deaf to interrupts: what is held must be given back all the same. */
    Result attempt(GrantKey key, boolean lapsedToo, Duration patience, Supplier<OptionalLong> update) {
        boolean interrupted = Thread.interrupted();
        try {
            return attempt(key, lapsedToo, Deadline.in(patience), update);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Result attempt(GrantKey key, boolean lapsedToo, Deadline budget, Supplier<OptionalLong> update) {
        while (true) {
            OptionalLong answer = lockedAsNothing(update);
            if (answer.isPresent()) {
                return new Result(answer, null);
            }
            @Nullable LockRow row = store.read(key.name()).orElse(null);
            @Nullable String gone = whyGone(row, key);
            boolean lapsed = row != null && row.isOf(key.secret());
            if (gone != null && !(lapsedToo && lapsed)) {
                return new Result(answer, gone);
            }
            if (budget.passed() || !Ticks.paused(4)) {
                return new Result(answer, null);
            }
        }
    }

    /** Changes the row or says why not; answers with the update's number. */
    long change(GrantKey key, String what, boolean lapsedToo, Supplier<OptionalLong> update) {
        Result result = attempt(key, lapsedToo, BUDGET, update);
        if (result.gone != null) {
            throw notHeld(key, result.gone);
        }
        return result.answer.orElseThrow(() -> stayedLocked(key, what));
    }

    static NoLockException notHeld(GrantKey key, String why) {
        return new NoLockException(
                key.name(), key.name() + " is not held any more (fence " + key.fence() + "): " + why, null);
    }

    static LockingFailException stayedLocked(GrantKey key, String what) {
        return new LockingFailException(
                key.name(), key.name() + " could not be " + what + ": its row is locked by an open transaction", null);
    }

    /** Why a lock is not held under this key any more; null if it is. */
    static @Nullable String whyGone(@Nullable LockRow row, GrantKey key) {
        if (row == null) {
            return "its row is gone";
        }
        if (row.isOf(key.secret())) {
            return row.held() ? null : "it expired";
        }
        if (row.covers(key.fence())) {
            return row.forced() != null ? "it was taken away by " + row.forced() : "it was released";
        }
        return row.held() ? "it was taken by " + row.owner() + " (fence " + row.fence() + ")" : "another had it since";
    }

    private static OptionalLong lockedAsNothing(Supplier<OptionalLong> update) {
        try {
            return update.get();
        } catch (DatabaseException e) {
            if (e.meaning() == Meaning.BUSY || e.meaning() == Meaning.REPEAT) {
                return OptionalLong.empty();
            }
            throw e;
        }
    }
}
