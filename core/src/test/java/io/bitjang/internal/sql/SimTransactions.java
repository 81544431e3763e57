// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static io.bitjang.internal.sql.SimParams.text;

import io.bitjang.LockName;
import io.bitjang.internal.sql.SimRows.Row;
import io.bitjang.internal.sql.SimRows.Server;
import io.bitjang.internal.sql.SimRows.Strength;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Rows that were committed, and transactions with rows of their own and row locks. Not thread-safe. */
public abstract class SimTransactions {

    /** The place of a row, which may not be there yet, and who has it locked. */
    private static final class Slot {
        final LockName name;

        @Nullable
        Row row;

        private final List<Part> lockers = new ArrayList<>(2);

        Slot(LockName name) {
            this.name = name;
        }
    }

    /** What a transaction did with one row. */
    private final class Part {
        final Transaction transaction;
        final Slot slot;

        @Nullable
        Row changed;

        boolean deleted;

        @Nullable
        Strength lock;

        /** Whether the server tells those who listen that the lock was freed. */
        boolean rings;

        Part(Transaction transaction, Slot slot) {
            this.transaction = transaction;
            this.slot = slot;
        }

        Part copy() {
            Part copy = new Part(transaction, slot);
            copy.changed = changed;
            copy.deleted = deleted;
            copy.lock = lock;
            copy.rings = rings;
            return copy;
        }

        void lock(@Nullable Strength strength) {
            if (lock == null && strength != null) {
                slot.lockers.add(this);
            } else if (lock != null && strength == null) {
                slot.lockers.remove(this);
            }
            lock = strength;
        }

        /** Goes back to a savepoint, at which it was this; null for nothing. InnoDB keeps what was locked since. */
        void goBack(@Nullable Part before) {
            changed = before == null ? null : before.changed;
            deleted = before != null && before.deleted;
            rings = before != null && before.rings;
            if (looksFirst()) {
                lock(before == null ? null : before.lock);
            }
        }
    }

    /** What one connection has changed and locked since it began. */
    public final class Transaction {
        /** In the order of the names. */
        private final List<Part> parts = new ArrayList<>(2);

        /** Whether it has changed something in the tables of the application. */
        public boolean writes;

        /** Makes its changes visible to all, and gives up its locks. */
        public void commit() {
            for (Part part : parts) {
                @Nullable Row row = part.changed;
                if (part.deleted) {
                    part.slot.row = null;
                } else if (row != null) {
                    LockName name = part.slot.name;
                    @Nullable Row before = part.slot.row;
                    part.slot.row = row;
                    observer.changed(name, before, row);
                    if (before != null && before.lockId != null && row.lockId == null) {
                        observer.freed(name, part.rings);
                    }
                }
            }
            rollback();
        }

        /** Forgets its changes. */
        public void rollback() {
            writes = false;
            for (Part part : parts) {
                part.lock(null);
            }
            parts.clear();
        }

        /** What it has done until now, to go back to. */
        public Runnable savepoint() {
            boolean wrote = writes;
            List<Part> before = parts.stream().map(Part::copy).toList();
            return () -> {
                writes = wrote;
                for (Part part : parts) {
                    part.goBack(before.stream()
                            .filter(each -> each.slot == part.slot)
                            .findFirst()
                            .orElse(null));
                }
            };
        }

        final @Nullable Row see(LockName name) {
            return see(slot(name));
        }

        private @Nullable Row see(Slot slot) {
            for (Part part : parts) {
                if (part.slot == slot && (part.deleted || part.changed != null)) {
                    return part.deleted ? null : part.changed;
                }
            }
            return slot.row;
        }

        final void lock(LockName name, Strength strength) {
            Part part = part(slot(name));
            if (part.lock == null || part.lock.compareTo(strength) < 0) {
                part.lock(strength);
            }
        }

        final void put(LockName name, Row row) {
            Part part = part(slot(name));
            part.changed = row;
            part.deleted = false;
        }

        final void delete(LockName name) {
            part(slot(name)).deleted = true;
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

        /** A lock was freed, and the server tells those who listen if somebody waits. */
        default void freed(LockName name, boolean rings) {}
    }

    final Server server;
    private final Observer observer;

    /** A few: they are looked through one by one. */
    private final List<Slot> slots = new ArrayList<>();

    SimTransactions(Server server, Observer observer) {
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

    /** All names that there may be a row of, in their order. */
    final List<LockName> names() {
        return slots.stream().map(slot -> slot.name).sorted().toList();
    }

    final boolean canLock(Transaction tx, LockName name, Strength strength) {
        return holders(tx, name, strength).isEmpty();
    }

    /** Tells whether a transaction has the row locked. */
    public final boolean isLocked(LockName name) {
        return !slot(name).lockers.isEmpty();
    }

    /** Whether a server looks at a row before it locks it. */
    final boolean looksFirst() {
        return server == Server.KEY_SHARE || server == Server.SKIPS;
    }

    /** The transactions that have the row locked so that this one can't have it. */
    final List<Transaction> holders(Transaction tx, LockName name, Strength strength) {
        List<Transaction> holders = List.of();
        for (Part part : slot(name).lockers) {
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
}
