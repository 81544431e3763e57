// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Rows in memory, how servers lock them, and a clock that others move. Not thread-safe. */
public abstract class SimRows extends SimTransactions {

    /** How a server locks rows, and by which statements a lock is taken. */
    public enum Server {
        /**
         * As PostgreSQL: a pin lets renewals and releases through, and some statements wait for a locked row for a while. Some of
         * them read the clock again after the wait.
         */
        KEY_SHARE,
        /** As H2: every lock excludes every other, locked rows are skipped. */
        SKIPS,
        /** As MySQL: the same, and a lock is read before it is taken. */
        READS_FIRST,
        /**
         * As MariaDB: every lock excludes every other; a row is locked before its condition is looked at, and one that is locked is
         * an error at once. Whoever claims a lock is answered with its row whatever came of it.
         */
        FAILS
    }

    /** A statement that has to wait for others' transactions. */
    public static final class Blocked extends RuntimeException {
        private static final long serialVersionUID = 1L;

        final transient LockName name;
        final transient List<Transaction> holders;
        /** When it began, and the row that it saw then. */
        private final long clock;

        private final transient @Nullable Row seen;

        Blocked(LockName name, List<Transaction> holders, long clock, @Nullable Row seen) {
            super("waits for " + name, null, false, false);
            this.name = name;
            this.holders = holders;
            this.clock = clock;
            this.seen = seen;
        }
    }

    enum Strength {
        PIN,
        NO_KEY,
        FULL
    }

    enum Patience {
        SKIPS,
        /** Waits for a while where the server can. */
        PATIENT,
        WAITS
    }

    /** One row; copied before it is changed. */
    public static final class Row {
        public @Nullable String lockId;
        public @Nullable String owner;
        public long fence;
        public long reserved;
        public long acquiredAt;
        public long expiresAt;
        public @Nullable String note;
        public long wanted;
        public @Nullable String takenFrom;
        public @Nullable String forced;
        public long reentered;

        Row copy() {
            Row copy = new Row();
            copy.lockId = lockId;
            copy.owner = owner;
            copy.fence = fence;
            copy.reserved = reserved;
            copy.acquiredAt = acquiredAt;
            copy.expiresAt = expiresAt;
            copy.note = note;
            copy.wanted = wanted;
            copy.takenFrom = takenFrom;
            copy.forced = forced;
            copy.reentered = reentered;
            return copy;
        }
    }

    /** Microseconds of the server's clock. */
    public long clock = 1_000_000_000L;

    private @Nullable Blocked waited;

    SimRows(Server server, Observer observer) {
        super(server, observer);
    }

    /**
     * Does something at the moment at which a server does it that has waited: all but PostgreSQL read the clock once, when a
     * statement begins.
     */
    final <A> A after(@Nullable Blocked wait, Supplier<A> statement) {
        long present = clock;
        waited = wait;
        clock = wait == null || server == Server.KEY_SHARE ? present : wait.clock;
        try {
            return statement.get();
        } finally {
            clock = present;
            waited = null;
        }
    }

    /** When the statement began that is at work. */
    final long begun() {
        return waited == null ? clock : waited.clock;
    }

    /** Whether the statement that is at work has waited. */
    final boolean hasWaited() {
        return waited != null;
    }

    /** The row as the statement that is at work saw it when it began. */
    final @Nullable Row seenFirst(Transaction tx, LockName name) {
        return waited == null ? tx.see(name) : waited.seen;
    }

    final @Nullable Row lock(Transaction tx, LockName name, Strength strength, Patience patience) {
        List<Transaction> holders = holders(tx, name, strength);
        if (!holders.isEmpty()) {
            if (patience == Patience.WAITS || patience == Patience.PATIENT && server == Server.KEY_SHARE) {
                throw new Blocked(name, holders, begun(), seenFirst(tx, name));
            }
            if (server == Server.FAILS) {
                throw SimFailures.locked();
            }
            return null;
        }
        tx.lock(name, strength);
        return tx.see(name);
    }

    final Row change(Transaction tx, LockName name, Row row) {
        Row copy = row.copy();
        tx.put(name, copy);
        return copy;
    }

    final List<LockRow> seen(Transaction tx, LockName name) {
        @Nullable Row row = tx.see(name);
        return row == null ? List.of() : List.of(read(name, row));
    }

    final LockRow read(Transaction tx, LockName name) {
        return read(name, Objects.requireNonNull(tx.see(name)));
    }

    final LockRow read(LockName name, Row row) {
        return new LockRow(
                name,
                row.lockId,
                row.owner,
                row.fence,
                (int) row.reserved,
                row.acquiredAt,
                row.expiresAt,
                row.note,
                row.wanted != 0,
                row.takenFrom,
                row.forced,
                clock);
    }

    /** Tells whether somebody has the lock of this row now. */
    public final boolean isHeld(Row row) {
        return row.lockId != null && row.expiresAt > clock;
    }

    /**
     * Whether the row is locked before its condition is looked at again: PostgreSQL does so when it has waited for it, because what
     * it locks is the newest version.
     */
    private boolean hasWaitedFor(LockName name) {
        return server == Server.KEY_SHARE && waited != null && waited.name.equals(name);
    }

    /** Locks the row if it meets the condition. MySQL and MariaDB lock it first, and may have to wait for nothing. */
    final @Nullable Row lockIf(
            Transaction tx, LockName name, Strength strength, Patience patience, Predicate<Row> condition) {
        @Nullable Row seen = tx.see(name);
        if (seen == null || looksFirst() && !hasWaitedFor(name) && !condition.test(seen)) {
            return null;
        }
        @Nullable Row row = lock(tx, name, strength, patience);
        return row == null || !condition.test(row) ? null : row;
    }
}
