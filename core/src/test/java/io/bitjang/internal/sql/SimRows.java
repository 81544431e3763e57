// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Rows in memory: committed ones, transactions with rows of their own, row locks, and a clock that others move. Not thread-safe. */
public abstract class SimRows {

    /** How a server locks rows, and by which statements a lock is taken. */
    public enum Server {
        /** As PostgreSQL: a pin lets renewals and releases through, some statements wait for a locked row for a while. */
        KEY_SHARE,
        /** As H2: every lock excludes every other, locked rows are skipped. */
        SKIPS,
        /** As MySQL: the same, and a lock is read before it is taken. */
        READS_FIRST
    }

    /** A statement that has to wait for another's transaction. */
    public static final class Blocked extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Blocked() {
            super("waits for a row", null, false, false);
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

    /** What one connection has changed and locked since it began. */
    public final class Transaction {
        final Map<LockName, Row> changed = new TreeMap<>();
        private final Map<LockName, Strength> locks = new TreeMap<>();

        /** Makes its changes visible to all, and gives up its locks. */
        public void commit() {
            changed.forEach((name, row) -> {
                @Nullable Row before = rows.put(name, row);
                observer.changed(name, before, row);
            });
            rollback();
        }

        /** Forgets its changes. */
        public void rollback() {
            changed.clear();
            locks.keySet()
                    .forEach(name ->
                            lockers.getOrDefault(name, new ArrayList<>()).remove(this));
            locks.clear();
        }

        final @Nullable Row see(LockName name) {
            Row own = changed.get(name);
            return own != null ? own : rows.get(name);
        }
    }

    /** Sees every change that was committed. */
    public interface Observer {
        /** A row was inserted or changed. */
        void changed(LockName name, @Nullable Row before, Row after);
    }

    final Server server;
    private final Observer observer;
    private final Map<LockName, Row> rows = new TreeMap<>();
    private final Map<LockName, List<Transaction>> lockers = new HashMap<>();
    /** Microseconds of the server's clock. */
    public long clock = 1_000_000_000L;

    SimRows(Server server, Observer observer) {
        this.server = server;
        this.observer = observer;
    }

    /** A transaction of one or more statements. */
    public final Transaction begin() {
        return new Transaction();
    }

    /** The row as it was committed. */
    public final @Nullable Row row(LockName name) {
        return rows.get(name);
    }

    final @Nullable Row lock(Transaction tx, LockName name, Strength strength, Patience patience) {
        List<Transaction> others = lockers.computeIfAbsent(name, each -> new ArrayList<>());
        for (Transaction other : others) {
            if (other != tx && conflict(Objects.requireNonNull(other.locks.get(name)), strength)) {
                if (patience == Patience.WAITS || patience == Patience.PATIENT && server == Server.KEY_SHARE) {
                    throw new Blocked();
                }
                return null;
            }
        }
        if (!others.contains(tx)) {
            others.add(tx);
        }
        tx.locks.merge(name, strength, (before, now) -> before.compareTo(now) > 0 ? before : now);
        return tx.see(name);
    }

    final boolean conflict(Strength one, Strength other) {
        if (server != Server.KEY_SHARE) {
            return true;
        }
        boolean pins = one == Strength.PIN || other == Strength.PIN;
        return !pins || one == Strength.FULL || other == Strength.FULL;
    }

    final Row change(Transaction tx, LockName name, Row row) {
        Row copy = row.copy();
        tx.changed.put(name, copy);
        return copy;
    }

    final List<LockRow> seen(Transaction tx, LockName name) {
        return tx.see(name) == null ? List.of() : List.of(read(tx, name));
    }

    final LockRow read(Transaction tx, LockName name) {
        Row row = Objects.requireNonNull(tx.see(name));
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

    final boolean isHeld(Row row) {
        return row.lockId != null && row.expiresAt > clock;
    }
}
