// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
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
import java.util.Optional;
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

    private final LockStore store;

    OwnRow(LockStore store) {
        this.store = store;
    }

    /** Changes the row, waiting a little while it is locked; answers with the update's number. */
    long change(GrantKey key, String what, boolean lapsedToo, Supplier<OptionalLong> update) {
        Deadline budget = Deadline.in(BUDGET);
        while (true) {
            OptionalLong answer = busyAsNothing(update);
            if (answer.isPresent()) {
                return answer.getAsLong();
            }
            @Nullable LockRow row = store.read(key.name()).orElse(null);
            @Nullable String gone = whyGone(row, key);
            boolean lapsed = row != null && row.isOf(key.secret()) && !row.held();
            if (gone != null && !(lapsedToo && lapsed)) {
                throw new NoLockException(
                        key.name(), key.name() + " is not held any more (fence " + key.fence() + "): " + gone, null);
            }
            if (budget.passed()) {
                throw new LockingFailException(
                        key.name(),
                        key.name() + " could not be " + what + ": its row is locked by an open transaction",
                        null);
            }
            pause(key.name());
        }
    }

    /** Renews all locks of a lease. */
    void renewAll(LeaseHandle lease, long micros) {
        for (LockName name : lease.names()) {
            GrantKey key = new GrantKey(name, lease.fence(), lease.key().secret());
            try {
                change(key, "renewed", false, () -> store.renew(name, key.secret(), micros));
            } catch (NoLockException e) {
                lease.lose(whyGone(store.read(name).orElse(null), key, "it is gone"));
                throw lease.notHeld();
            } catch (DatabaseException e) {
                throw Attempts.failed(name, "could not be renewed", e);
            }
        }
    }

    /** Why a lock is not held under this key any more; null if it is. */
    static @Nullable String whyGone(@Nullable LockRow row, GrantKey key) {
        if (row == null) {
            return "its row is gone";
        }
        if (row.isOf(key.secret())) {
            return row.held() ? null : "it expired";
        }
        if (row.fence() == key.fence()) {
            return row.forced() != null ? "it was taken away by " + row.forced() : "it was released";
        }
        return row.held() ? "it was taken by " + row.owner() + " (fence " + row.fence() + ")" : "another had it since";
    }

    private static String whyGone(@Nullable LockRow row, GrantKey key, String otherwise) {
        return Optional.ofNullable(whyGone(row, key)).orElse(otherwise);
    }

    private static OptionalLong busyAsNothing(Supplier<OptionalLong> update) {
        try {
            return update.get();
        } catch (DatabaseException e) {
            if (e.meaning() == Meaning.BUSY) {
                return OptionalLong.empty();
            }
            throw e;
        }
    }

    private static void pause(LockName name) {
        try {
            Ticks.pauseAround(5);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockingFailException(name, name + ": interrupted", e);
        }
    }
}
