// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static io.bitjang.internal.sql.SimParams.anotherWaits;
import static io.bitjang.internal.sql.SimParams.encode;
import static io.bitjang.internal.sql.SimParams.isOf;
import static io.bitjang.internal.sql.SimParams.number;
import static io.bitjang.internal.sql.SimParams.text;

import io.bitjang.LockName;
import io.bitjang.internal.time.Ticker;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table of locks in memory. It knows each of our statements by what it means. Not thread-safe.
 */
public final class SimTable extends SimGroups {

    private final Map<Sql, BiFunction<Transaction, Params, Object>> statements = new IdentityHashMap<>();

    /** An empty table. */
    public SimTable(Server server, Observer observer) {
        super(server, observer);
        know(SimDialect.statements(server));
    }

    /** What a process knows of this table. */
    public LockStore store(Ticker ticker, Supplier<String> secrets) {
        return new LockStore(new SimDialect(server), SimDialect.statements(server), ticker, secrets);
    }

    /** Learns the statements of a language. */
    private void know(LockSql sql) {
        statements.put(sql.take, this::take);
        sql.upsert.ifPresent(upsert -> statements.put(upsert, this::upsert));
        sql.insertGranted.ifPresent(insert -> statements.put(insert, this::insertGranted));
        statements.put(sql.reenter, this::reenter);
        statements.put(
                sql.handOver, (tx, p) -> give(tx, p, row -> Objects.equals(row.lockId, p.values.get("from")), false));
        statements.put(
                sql.takeOver,
                (tx, p) -> give(
                        tx, p, row -> row.lockId != null && row.fence == number(p, "seen") && row.reserved == 0, true));
        update(sql.release, (tx, p) -> free(tx, p, Patience.PATIENT, false, row -> isOf(row, p)));
        statements.put(sql.releaseWithCaller, (tx, p) -> free(tx, p, Patience.PATIENT, false, row -> isOf(row, p)));
        update(sql.releaseAt, this::releaseAt);
        update(sql.renew, (tx, p) -> expiry(tx, p, row -> Math.max(row.expiresAt, clock + number(p, "micros"))));
        update(sql.extend, (tx, p) -> expiry(tx, p, row -> row.expiresAt + number(p, "micros")));
        update(sql.leave, (tx, p) -> expiry(tx, p, row -> Math.min(row.expiresAt, clock + number(p, "micros"))));
        update(sql.settle, this::settle);
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
        update(sql.probe, this::probe);
        statements.put(sql.renewListed, this::renewListed);
        statements.put(sql.releaseListed, this::releaseListed);
        statements.put(sql.read, (tx, p) -> seen(tx, name(p)));
        statements.put(sql.readListed, this::readListed);
        statements.put(sql.check, this::check);
        update(sql.guard, this::guard);
        statements.put(sql.insertFree, this::insertFree);
        statements.put(sql.idle, this::idle);
        statements.put(sql.deleteIdle, this::deleteIdle);
    }

    /**
     * Knows a statement for which PostgreSQL computes everything before it locks the row, and once more if it finds the row changed
     * then.
     */
    private void update(Sql statement, BiFunction<Transaction, Params, Object> meaning) {
        statements.put(statement, (tx, p) -> {
            if (hasWaited() && tx.see(name(p)) == seenFirst(tx, name(p))) {
                clock = begun();
            }
            return meaning.apply(tx, p);
        });
    }

    /**
     * Runs a statement.
     *
     * @throws Blocked if it has to wait, and has changed nothing
     */
    public <A> A run(Transaction transaction, Ask<A> ask) {
        return again(transaction, ask, null);
    }

    /**
     * Goes on with a statement that had to wait.
     *
     * @param waited what its first try threw; null for a statement that begins now
     * @throws Blocked if it has to wait still, and has changed nothing
     */
    @SuppressWarnings("unchecked") // each statement is answered with what its reading would make of the rows
    public <A> A again(Transaction transaction, Ask<A> ask, @Nullable Blocked waited) {
        BiFunction<Transaction, Params, Object> meaning = meaning(ask);
        return (A) after(waited, () -> meaning.apply(transaction, ask.params()));
    }

    private BiFunction<Transaction, Params, Object> meaning(Ask<?> ask) {
        BiFunction<Transaction, Params, Object> meaning = statements.get(ask.sql());
        if (meaning == null) {
            meaning = switch (ask.sql().text()) {
                case SimDialect.TAKE_ALL -> server == Server.FAILS ? this::upsertAll : this::takeAll;
                case SimDialect.RAISE_FENCES -> this::raiseFences;
                default -> throw new IllegalStateException("not simulated: " + ask.sql());
            };
        }
        return meaning;
    }

    /** One of those that a guard sends. */
    final Sql statement(String text) {
        LockSql sql = SimDialect.statements(server);
        return Stream.of(sql.guard, sql.read)
                .filter(each -> each.text().equals(text))
                .findFirst()
                .orElseThrow();
    }

    /** Tells whether a guard of this lock would have to wait now for another's transaction. */
    public boolean makesGuardWait(Transaction transaction, LockName name, String secret) {
        @Nullable Row row = transaction.see(name);
        boolean isLocked = row != null && (!looksFirst() || secret.equals(row.lockId));
        return isLocked && !canLock(transaction, name, pin());
    }

    private Strength pin() {
        return server == Server.KEY_SHARE ? Strength.PIN : Strength.FULL;
    }

    // what the statements mean

    private Object take(Transaction tx, Params p) {
        if (tx.see(name(p)) == null && server == Server.KEY_SHARE) {
            return OptionalLong.of(encode(insert(tx, p).fence, 0));
        }
        @Nullable Row row = lockIf(tx, name(p), Strength.FULL, Patience.PATIENT, each -> !isHeld(each));
        if (row == null) {
            return OptionalLong.empty();
        }
        long flags = (row.lockId != null ? 4 : 0) + (anotherWaits(row, p) ? 2 : 0);
        return OptionalLong.of(encode(grant(tx, p, row, row.lockId != null ? row.owner : null).fence, flags));
    }

    private Object upsert(Transaction tx, Params p) {
        LockName name = name(p);
        @Nullable Row first = seenFirst(tx, name);
        if (first == null || tx.see(name) == null) {
            insert(tx, p);
            return upserted(read(tx, name), true);
        }
        // PostgreSQL alone refuses before it locks the row; if it has waited, it does not look at that filter again,
        // but at the
        // condition of the update. H2 evaluates both sides of its AND, and one of them locks
        boolean filtered = server == Server.KEY_SHARE && !hasWaited() && isHeld(first) && !isAgain(first, p);
        @Nullable Row row = filtered ? null : lock(tx, name, Strength.FULL, Patience.PATIENT);
        if (row == null || isHeld(row) && !isAgain(row, p)) {
            // the row as it was when the statement began: what came while it waited is not in its snapshot
            return upserted(read(name, first), server == Server.FAILS);
        }
        if (isAgain(row, p) && row.lockId != null && row.expiresAt > begun()) {
            Row changed = change(tx, name, row);
            changed.expiresAt = Math.max(row.expiresAt, clock + number(p, "micros"));
            changed.reentered = row.fence;
            changed.note = text(p, "note");
            if (server == Server.KEY_SHARE) {
                changed.takenFrom = null;
                changed.wanted = Math.abs(row.wanted) == number(p, "me") ? 0 : row.wanted;
            }
        } else {
            grant(tx, p, row, row.lockId != null ? row.owner : null);
        }
        return upserted(read(tx, name), true);
    }

    private static boolean isAgain(Row row, Params p) {
        return row.owner != null && row.owner.equals(p.values.get("again"));
    }

    private static List<LockStore.Upserted> upserted(LockRow row, boolean changed) {
        return List.of(new LockStore.Upserted(row, changed));
    }

    private Object insertGranted(Transaction tx, Params p) {
        if (tx.see(name(p)) == null) {
            return OptionalLong.of(encode(insert(tx, p).fence, 0));
        }
        // that a row is there is known for sure only when nobody has it locked
        lock(tx, name(p), Strength.FULL, Patience.WAITS);
        return OptionalLong.empty();
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
        tx.put(name(p), row);
        return row;
    }

    private Row grant(Transaction tx, Params p, Row row, @Nullable String takenFrom) {
        Row changed = change(tx, name(p), row);
        changed.fence = Math.max(row.fence + row.reserved + 1, clock);
        changed.reserved = number(p, "reserve");
        changed.acquiredAt = clock;
        changed.expiresAt = clock + number(p, "micros");
        changed.note = text(p, "note");
        changed.wanted = Math.abs(row.wanted) == number(p, "me") ? 0 : row.wanted;
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
                name(p),
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
        @Nullable Row row = lockIf(tx, name(p), Strength.FULL, Patience.SKIPS, condition);
        return row == null
                ? OptionalLong.empty()
                : OptionalLong.of(
                        encode(grant(tx, p, row, takenOver ? row.owner : null).fence, anotherWaits(row, p) ? 2 : 0));
    }

    private Object free(Transaction tx, Params p, Patience patience, boolean forced, Predicate<Row> condition) {
        @Nullable Row row = lockIf(tx, name(p), forced ? Strength.FULL : Strength.NO_KEY, patience, condition);
        if (row == null) {
            return OptionalLong.empty();
        }
        Row changed = change(tx, name(p), row);
        changed.lockId = null;
        changed.expiresAt = clock;
        changed.takenFrom = null;
        changed.wanted = number(p, "mark");
        changed.forced = forced ? text(p, "forced") : row.forced;
        tx.rings(name(p), row.wanted != 0);
        return OptionalLong.of(encode(row.fence, row.wanted != 0 ? 2 : 0));
    }

    private Object releaseAt(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, name(p), Strength.NO_KEY, Patience.PATIENT, each -> isOf(each, p));
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
        @Nullable
        Row row = lockIf(tx, name(p), Strength.NO_KEY, Patience.PATIENT, each -> isOf(each, p) && isHeld(each));
        if (row == null) {
            return OptionalLong.empty();
        }
        change(tx, name(p), row).expiresAt = expiry.of(row);
        return OptionalLong.of(encode(expiry.of(row), 0));
    }

    private Object settle(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, name(p), Strength.NO_KEY, Patience.PATIENT, each -> isOf(each, p));
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
        Row row = lockIf(tx, name(p), Strength.NO_KEY, Patience.SKIPS, each -> each.lockId != null && each.wanted == 0);
        if (row == null) {
            return OptionalLong.empty();
        }
        change(tx, name(p), row).wanted = number(p, "me");
        return OptionalLong.of(encode(row.fence, 0));
    }

    private Object probe(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, name(p), Strength.NO_KEY, Patience.PATIENT, each -> true);
        return row == null ? OptionalLong.empty() : OptionalLong.of(8);
    }

    private Object check(Transaction tx, Params p) {
        @Nullable Row row = tx.see(name(p));
        return row != null && isOf(row, p) && isHeld(row) ? List.of(read(name(p), row)) : List.of();
    }

    private Object guard(Transaction tx, Params p) {
        @Nullable Row row = lockIf(tx, name(p), pin(), Patience.WAITS, each -> isOf(each, p));
        return row == null ? List.of() : seen(tx, name(p));
    }
}
