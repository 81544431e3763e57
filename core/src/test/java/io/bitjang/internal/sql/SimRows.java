// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static io.bitjang.internal.sql.SimParams.text;

import io.bitjang.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Rows in memory: committed ones, transactions with rows of their own, row locks, and a clock that others move. Not thread-safe. */
public abstract class SimRows {

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

    /** The place of a row, which may not be there yet, and who has it locked. */
    static final class Slot {
        final LockName name;

        @Nullable
        Row row;

        private final List<Part> lockers = new ArrayList<>(2);

        Slot(LockName name) {
            this.name = name;
        }
    }

    /** What a transaction did with one row. */
    private static final class Part {
        final Transaction transaction;
        final Slot slot;

        @Nullable
        Row changed;

        @Nullable
        Strength lock;

        /** Whether the server tells those who listen that the lock was freed; it never does where it frees many. */
        @Nullable
        Boolean rings;

        Part(Transaction transaction, Slot slot) {
            this.transaction = transaction;
            this.slot = slot;
        }
    }

    /** What one connection has changed and locked since it began. */
    public final class Transaction {
        /** In the order of the names. */
        private final List<Part> parts = new ArrayList<>(2);

        /** Whose it is; null if nobody cares. */
        public @Nullable Object by;

        /** Makes its changes visible to all, and gives up its locks. */
        public void commit() {
            for (Part part : parts) {
                @Nullable Row row = part.changed;
                if (row != null) {
                    LockName name = part.slot.name;
                    @Nullable Row before = part.slot.row;
                    part.slot.row = row;
                    observer.changed(name, before, row);
                    if (before != null && before.lockId != null && row.lockId == null) {
                        observer.freed(name, part.rings, by);
                    }
                }
            }
            rollback();
        }

        /** Forgets its changes. */
        public void rollback() {
            for (Part part : parts) {
                if (part.lock != null) {
                    part.slot.lockers.remove(part);
                }
            }
            parts.clear();
        }

        final @Nullable Row see(LockName name) {
            return see(slot(name));
        }

        private @Nullable Row see(Slot slot) {
            for (Part part : parts) {
                if (part.slot == slot && part.changed != null) {
                    return part.changed;
                }
            }
            return slot.row;
        }

        final void put(LockName name, Row row) {
            part(slot(name)).changed = row;
        }

        final void rings(LockName name, boolean heard) {
            part(slot(name)).rings = heard;
        }

        private Part part(Slot slot) {
            int at = 0;
            for (Part part : parts) {
                if (part.slot == slot) {
                    return part;
                }
                at += part.slot.name.compareTo(slot.name) < 0 ? 1 : 0;
            }
            Part part = new Part(this, slot);
            parts.add(at, part);
            return part;
        }
    }

    /** Sees every change that was committed. */
    public interface Observer {
        /** A row was inserted or changed. */
        void changed(LockName name, @Nullable Row before, Row after);

        /**
         * A lock was freed.
         *
         * @param rings whether the server tells those who listen, because somebody waits; null where its statement never does
         * @param by whose transaction it was
         */
        default void freed(LockName name, @Nullable Boolean rings, @Nullable Object by) {}
    }

    final Server server;
    private final Observer observer;
    /** A few: they are looked through one by one. */
    private final List<Slot> slots = new ArrayList<>();

    /** Microseconds of the server's clock. */
    public long clock = 1_000_000_000L;

    private @Nullable Blocked waited;

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
        return slot(name).row;
    }

    private Slot slot(LockName name) {
        // most often it is the same object
        for (Slot slot : slots) {
            if (slot.name == name) {
                return slot;
            }
        }
        for (Slot slot : slots) {
            if (slot.name.equals(name)) {
                return slot;
            }
        }
        return newSlot(name);
    }

    private Slot newSlot(LockName name) {
        Slot slot = new Slot(name);
        slots.add(slot);
        return slot;
    }

    /** The lock that a statement is about. */
    final LockName name(Params p) {
        return named(Objects.requireNonNull(text(p, "type")), Objects.requireNonNull(text(p, "id")));
    }

    /** The locks that a statement is about. */
    final List<LockName> names(Params p) {
        List<LockName> names = new ArrayList<>();
        for (int i = 0; p.values.containsKey("type" + i); i++) {
            names.add(named(Objects.requireNonNull(text(p, "type" + i)), Objects.requireNonNull(text(p, "id" + i))));
        }
        if (names.isEmpty()) {
            String[] types = (String[]) Objects.requireNonNull(p.values.get("types"));
            String[] ids = (String[]) Objects.requireNonNull(p.values.get("ids"));
            for (int i = 0; i < types.length; i++) {
                names.add(named(types[i], ids[i]));
            }
        }
        return names;
    }

    /** Its name is made only once. */
    private LockName named(String type, String id) {
        for (Slot slot : slots) {
            if (slot.name.id().equals(id) && slot.name.type().equals(type)) {
                return slot.name;
            }
        }
        return newSlot(LockName.of(type, id)).name;
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

    /** Tells whether a transaction has the row locked. */
    public final boolean isLocked(LockName name) {
        return !slot(name).lockers.isEmpty();
    }

    final @Nullable Row lock(Transaction tx, LockName name, Strength strength, Patience patience) {
        Slot slot = slot(name);
        List<Transaction> holders = holders(slot, tx, strength);
        if (!holders.isEmpty()) {
            if (patience == Patience.WAITS || patience == Patience.PATIENT && server == Server.KEY_SHARE) {
                throw new Blocked(name, holders, begun(), seenFirst(tx, name));
            }
            if (server == Server.FAILS) {
                throw SimFailures.locked();
            }
            return null;
        }
        Part mine = tx.part(slot);
        if (mine.lock == null) {
            slot.lockers.add(mine);
            mine.lock = strength;
        } else if (mine.lock.compareTo(strength) < 0) {
            mine.lock = strength;
        }
        return tx.see(slot);
    }

    /** The transactions that have the row locked so that this one can't have it. */
    private List<Transaction> holders(Slot slot, Transaction tx, Strength strength) {
        List<Transaction> holders = List.of();
        for (Part part : slot.lockers) {
            if (part.transaction != tx && conflict(Objects.requireNonNull(part.lock), strength)) {
                holders = holders.isEmpty() ? new ArrayList<>(2) : holders;
                holders.add(part.transaction);
            }
        }
        return holders;
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

    /** Locks the row if it meets the condition. MySQL and MariaDB lock it first, and may have to wait for nothing. */
    final @Nullable Row lockIf(
            Transaction tx, LockName name, Strength strength, Patience patience, Predicate<Row> condition) {
        @Nullable Row seen = tx.see(name);
        boolean looksFirst = server == Server.KEY_SHARE || server == Server.SKIPS;
        if (seen == null || looksFirst && !condition.test(seen)) {
            return null;
        }
        @Nullable Row row = lock(tx, name, strength, patience);
        return row == null || !condition.test(row) ? null : row;
    }
}
