// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static io.bitjang.internal.sql.SimParams.anotherWaits;
import static io.bitjang.internal.sql.SimParams.encode;
import static io.bitjang.internal.sql.SimParams.isOf;
import static io.bitjang.internal.sql.SimParams.name;
import static io.bitjang.internal.sql.SimParams.names;
import static io.bitjang.internal.sql.SimParams.number;
import static io.bitjang.internal.sql.SimParams.text;

import io.bitjang.LockName;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The table of locks in memory. It knows each of our statements by what it means. Not thread-safe.
 */
public final class SimTable extends SimRows {

    private final Map<Sql, BiFunction<Transaction, Params, Object>> statements = new IdentityHashMap<>();

    /** For the statements of this store. */
    public SimTable(Server server, LockStore store, Observer observer) {
        super(server, observer);
        know(store);
    }

    /** Learns the statements of another process, which mean the same. */
    public void know(LockStore store) {
        LockSql sql = store.sql;
        statements.put(sql.take, this::take);
        statements.put(sql.upsert, this::upsert);
        statements.put(sql.insertGranted, this::insertGranted);
        statements.put(sql.reenter, this::reenter);
        statements.put(
                sql.handOver, (tx, p) -> give(tx, p, row -> Objects.equals(row.lockId, p.values.get("from")), false));
        statements.put(
                sql.takeOver,
                (tx, p) -> give(
                        tx, p, row -> row.lockId != null && row.fence == number(p, "seen") && row.reserved == 0, true));
        statements.put(sql.release, (tx, p) -> free(tx, p, Patience.PATIENT, false, row -> isOf(row, p)));
        statements.put(sql.releaseWithCaller, (tx, p) -> free(tx, p, Patience.PATIENT, false, row -> isOf(row, p)));
        statements.put(sql.releaseAt, this::releaseAt);
        statements.put(
                sql.renew, (tx, p) -> expiry(tx, p, row -> Math.max(row.expiresAt, clock + number(p, "micros"))));
        statements.put(sql.extend, (tx, p) -> expiry(tx, p, row -> row.expiresAt + number(p, "micros")));
        statements.put(
                sql.leave, (tx, p) -> expiry(tx, p, row -> Math.min(row.expiresAt, clock + number(p, "micros"))));
        statements.put(sql.settle, this::settle);
        statements.put(
                sql.force,
                (tx, p) -> free(
                        tx,
                        p,
                        Patience.SKIPS,
                        true,
                        row -> row.lockId != null && row.fence == number(p, "fence") && row.reserved == 0));
        statements.put(
                sql.forceUnsettled,
                (tx, p) -> free(
                        tx,
                        p,
                        Patience.SKIPS,
                        true,
                        row -> row.lockId != null
                                && row.fence <= number(p, "fence")
                                && number(p, "fence") <= row.fence + row.reserved));
        statements.put(sql.markWanted, this::markWanted);
        statements.put(sql.probe, this::probe);
        statements.put(sql.renewListed, this::renewListed);
        statements.put(sql.releaseListed, this::releaseListed);
        statements.put(sql.read, (tx, p) -> seen(tx, name(p)));
        statements.put(sql.readListed, this::readListed);
        statements.put(sql.check, this::check);
        statements.put(sql.guard, this::guard);
        statements.put(sql.insertFree, this::insertFree);
    }

    /**
     * Runs a statement.
     *
     * @throws Blocked if it has to wait, and has changed nothing
     */
    @SuppressWarnings("unchecked") // each statement is answered with what its reading would make of the rows
    public <A> A run(Transaction transaction, Ask<A> ask) {
        BiFunction<Transaction, Params, Object> meaning = statements.get(ask.sql());
        if (meaning == null) {
            meaning = switch (ask.sql().text()) {
                case SimDialect.TAKE_ALL -> this::takeAll;
                case SimDialect.RAISE_FENCES -> this::raiseFences;
                default -> throw new IllegalStateException("not simulated: " + ask.sql());
            };
        }
        return (A) meaning.apply(transaction, ask.params());
    }

    /** Guards a lock in a transaction of the application's; false if it is not held under this secret. */
    public boolean pin(Transaction transaction, LockStore store, LockName name, String secret) {
        Params params = Params.of(name).set("lockId", secret);
        return !run(transaction, Ask.rows(store.sql.guard, params, LockRow::read))
                .isEmpty();
    }

    /** What a statement answers that has waited for too long. */
    public static DatabaseException waitedTooLong() {
        return new DatabaseException(Meaning.BUSY, "locked", new SQLException("locked", "55P03"));
    }

    // what the statements mean

    private Object take(Transaction tx, Params p) {
        @Nullable Row row = tx.see(name(p));
        if (row == null && server == Server.KEY_SHARE) {
            return OptionalLong.of(encode(insert(tx, p).fence, 0));
        }
        if (row == null || isHeld(row) || (row = lock(tx, name(p), Strength.FULL, Patience.PATIENT)) == null) {
            return OptionalLong.empty();
        }
        long flags = (row.lockId != null ? 4 : 0) + (anotherWaits(row, p) ? 2 : 0);
        return OptionalLong.of(encode(grant(tx, p, row, row.lockId != null ? row.owner : null).fence, flags));
    }

    private Object upsert(Transaction tx, Params p) {
        LockName name = name(p);
        @Nullable Row row = tx.see(name);
        if (row == null) {
            insert(tx, p);
            return List.of(new LockStore.Upserted(read(tx, name), true));
        }
        boolean again = isHeld(row) && row.owner != null && row.owner.equals(p.values.get("again"));
        if (isHeld(row) && !again || (row = lock(tx, name, Strength.FULL, Patience.PATIENT)) == null) {
            return List.of(new LockStore.Upserted(read(tx, name), false));
        }
        if (again) {
            Row changed = change(tx, name, row);
            changed.expiresAt = Math.max(row.expiresAt, clock + number(p, "micros"));
            changed.reentered = row.fence;
            changed.note = text(p, "note");
        } else {
            grant(tx, p, row, row.lockId != null ? row.owner : null);
        }
        return List.of(new LockStore.Upserted(read(tx, name), true));
    }

    private Object insertGranted(Transaction tx, Params p) {
        return tx.see(name(p)) == null ? OptionalLong.of(encode(insert(tx, p).fence, 0)) : OptionalLong.empty();
    }

    private Row insert(Transaction tx, Params p) {
        Row row = new Row();
        row.lockId = text(p, "lockId");
        row.owner = text(p, "owner");
        row.fence = clock;
        row.reserved = number(p, "reserve");
        row.acquiredAt = clock;
        row.expiresAt = clock + number(p, "micros");
        row.note = text(p, "note");
        tx.changed.put(name(p), row);
        return row;
    }

    private Row grant(Transaction tx, Params p, Row row, @Nullable String takenFrom) {
        Row changed = change(tx, name(p), row);
        changed.fence = Math.max(row.fence + row.reserved + 1, clock);
        changed.reserved = number(p, "reserve");
        changed.acquiredAt = clock;
        changed.expiresAt = clock + number(p, "micros");
        changed.note = text(p, "note");
        changed.wanted = row.wanted == number(p, "me") ? 0 : row.wanted;
        changed.forced = null;
        changed.takenFrom = takenFrom;
        changed.lockId = text(p, "lockId");
        changed.owner = text(p, "owner");
        return changed;
    }

    private Object reenter(Transaction tx, Params p) {
        @Nullable
        Row row = lockIf(
                tx,
                p,
                Strength.FULL,
                Patience.SKIPS,
                each -> isHeld(each) && Objects.equals(each.owner, p.values.get("again")));
        if (row == null) {
            return OptionalLong.empty();
        }
        Row changed = change(tx, name(p), row);
        changed.reentered = row.fence;
        changed.expiresAt = Math.max(row.expiresAt, clock + number(p, "micros"));
        changed.note = text(p, "note");
        return OptionalLong.of(encode(row.fence, 1 + (anotherWaits(row, p) ? 2 : 0)));
    }

    private Object give(Transaction tx, Params p, Predicate<Row> condition, boolean takenOver) {
        @Nullable Row row = lockIf(tx, p, Strength.FULL, Patience.SKIPS, condition);
        return row == null
                ? OptionalLong.empty()
                : OptionalLong.of(
                        encode(grant(tx, p, row, takenOver ? row.owner : null).fence, anotherWaits(row, p) ? 2 : 0));
    }

    private Object free(Transaction tx, Params p, Patience patience, boolean forced, Predicate<Row> condition) {
        @Nullable Row row = lockIf(tx, p, forced ? Strength.FULL : Strength.NO_KEY, patience, condition);
        if (row == null) {
            return OptionalLong.empty();
        }
        Row changed = change(tx, name(p), row);
        changed.lockId = null;
        changed.expiresAt = clock;
        changed.takenFrom = null;
        changed.wanted = number(p, "mark");
        changed.forced = forced ? text(p, "forced") : row.forced;
        return OptionalLong.of(encode(row.fence, row.wanted != 0 ? 2 : 0));
    }

    private Object releaseAt(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, p, Strength.NO_KEY, Patience.PATIENT, each -> isOf(each, p));
        if (row == null) {
            return OptionalLong.empty();
        }
        Row changed = change(tx, name(p), row);
        changed.expiresAt = row.acquiredAt + number(p, "micros");
        changed.lockId = text(p, "lockIdOfNobody");
        return OptionalLong.of(encode(row.fence, 0));
    }

    private interface Expiry {
        long of(Row row);
    }

    private Object expiry(Transaction tx, Params p, Expiry expiry) {
        @Nullable Row row = lockIf(tx, p, Strength.NO_KEY, Patience.PATIENT, each -> isOf(each, p) && isHeld(each));
        if (row == null) {
            return OptionalLong.empty();
        }
        change(tx, name(p), row).expiresAt = expiry.of(row);
        return OptionalLong.of(encode(expiry.of(row), 0));
    }

    private Object settle(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, p, Strength.NO_KEY, Patience.PATIENT, each -> isOf(each, p));
        if (row == null) {
            return OptionalLong.empty();
        }
        Row changed = change(tx, name(p), row);
        changed.fence = number(p, "fence");
        changed.reserved = 0;
        return OptionalLong.of(encode(changed.fence, 0));
    }

    private Object markWanted(Transaction tx, Params p) {
        @Nullable
        Row row = lockIf(tx, p, Strength.NO_KEY, Patience.SKIPS, each -> each.lockId != null && each.wanted == 0);
        if (row == null) {
            return OptionalLong.empty();
        }
        change(tx, name(p), row).wanted = number(p, "me");
        return OptionalLong.of(encode(row.fence, 0));
    }

    private Object probe(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, p, Strength.NO_KEY, Patience.PATIENT, each -> true);
        return row == null ? OptionalLong.empty() : OptionalLong.of(8);
    }

    private Object renewListed(Transaction tx, Params p) {
        Long[] micros = (Long[]) Objects.requireNonNull(p.values.get("micros"));
        return listed(tx, p, this::isHeld, (row, i) -> row.expiresAt = Math.max(row.expiresAt, clock + micros[i]));
    }

    private Object releaseListed(Transaction tx, Params p) {
        return listed(tx, p, row -> row.reentered != row.fence, (row, i) -> {
            row.lockId = null;
            row.expiresAt = clock;
            row.wanted = 0;
        });
    }

    private Object raiseFences(Transaction tx, Params p) {
        return listed(tx, p, row -> row.fence < number(p, "fence"), (row, i) -> row.fence = number(p, "fence"));
    }

    private interface ListedChange {
        void apply(Row row, int index);
    }

    private int listed(Transaction tx, Params p, Predicate<Row> condition, ListedChange change) {
        List<LockName> names = names(p);
        String[] secrets = (String[]) Objects.requireNonNull(p.values.get("lockIds"));
        int count = 0;
        for (int i = 0; i < secrets.length; i++) {
            LockName name = names.get(i);
            @Nullable Row seen = tx.see(name);
            if (seen == null || !secrets[i].equals(seen.lockId) || !condition.test(seen)) {
                continue;
            }
            @Nullable Row row = lock(tx, name, Strength.NO_KEY, Patience.SKIPS);
            if (row != null) {
                change.apply(change(tx, name, row), i);
                count++;
            }
        }
        return count;
    }

    private Object readListed(Transaction tx, Params p) {
        List<LockRow> found = new ArrayList<>();
        names(p).forEach(name -> found.addAll(seen(tx, name)));
        return found;
    }

    private Object check(Transaction tx, Params p) {
        return seen(tx, name(p)).stream()
                .filter(row -> row.isOf(Objects.requireNonNull(text(p, "lockId"))) && row.held())
                .toList();
    }

    private Object guard(Transaction tx, Params p) {
        @Nullable
        Row row = lockIf(
                tx,
                p,
                server == Server.KEY_SHARE ? Strength.PIN : Strength.FULL,
                Patience.WAITS,
                each -> isOf(each, p));
        return row == null ? List.of() : seen(tx, name(p));
    }

    private Object insertFree(Transaction tx, Params p) {
        int count = 0;
        for (LockName name : names(p)) {
            if (tx.see(name) == null) {
                Row row = new Row();
                row.expiresAt = clock;
                tx.changed.put(name, row);
                count++;
            }
        }
        return count;
    }

    private Object takeAll(Transaction tx, Params p) {
        List<LockName> names = names(p);
        Map<LockName, Row> locked = new TreeMap<>();
        for (LockName name : new TreeSet<>(names)) {
            @Nullable Row seen = tx.see(name);
            @Nullable Row row = seen == null || isHeld(seen) ? null : lock(tx, name, Strength.FULL, Patience.SKIPS);
            if (row != null) {
                locked.put(name, row);
            }
        }
        if (locked.size() < names.size()) {
            return OptionalLong.empty();
        }
        long fence = Math.max(
                locked.values().stream()
                                .mapToLong(row -> row.fence + row.reserved)
                                .max()
                                .orElseThrow()
                        + 1,
                clock);
        boolean over = locked.values().stream().anyMatch(row -> row.lockId != null);
        locked.forEach((name, row) -> {
            Row changed = change(tx, name, row);
            changed.takenFrom = row.lockId != null ? row.owner : null;
            changed.lockId = text(p, "lockId");
            changed.owner = text(p, "owner");
            changed.fence = fence;
            changed.reserved = 0;
            changed.acquiredAt = clock;
            changed.expiresAt = clock + number(p, "duration");
            changed.note = text(p, "note");
            changed.forced = null;
        });
        return OptionalLong.of(encode(fence, over ? 4 : 0));
    }

    // rows and their locks

    private @Nullable Row lockIf(
            Transaction tx, Params p, Strength strength, Patience patience, Predicate<Row> condition) {
        @Nullable Row seen = tx.see(name(p));
        return seen == null || !condition.test(seen) ? null : lock(tx, name(p), strength, patience);
    }
}
