// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.time.Ticker;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Plans the operations on the table of locks, each as few statements as the database allows. Every plan fails with a {@link
 * DatabaseException} and repeats nothing: what to do about a failure is the engine's business. Thread-safe.
 */
public final class LockStore {

    /** How many names are remembered as free before all are forgotten. */
    private static final int MAX_BELIEVED_FREE = 10_000;

    private final Dialect dialect;
    private final Supplier<String> secrets;
    final LockSql sql;
    private final boolean json;

    /**
     * Locks that this instance released last: they are taken by the cheapest statement, which can do nothing else. A wrong
     * belief costs one more statement, nothing else.
     */
    private final Set<LockName> believedFree = ConcurrentHashMap.newKeySet();

    /** The number of this process among those that wait. */
    private final int me;

    /** Makes a store that plans in the language of this database. */
    public LockStore(Dialect dialect, Tables tables, Ticker ticker, Supplier<String> secrets) {
        this(dialect, new LockSql(dialect, tables), ticker, secrets);
    }

    LockStore(Dialect dialect, LockSql sql, Ticker ticker, Supplier<String> secrets) {
        this.dialect = dialect;
        this.secrets = secrets;
        this.me = 1 + (int) ticker.random(Integer.MAX_VALUE - 1);
        this.sql = sql;
        this.json = dialect.bindsJson();
    }

    /** Makes a new random part of a lock id. */
    public String newSecret() {
        return secrets.get();
    }

    /** Takes one lock if it is free, expired, or its owner may re-enter. */
    public Plan<ClaimResult> acquire(LockName name, Claim claim) {
        Params params = claim(Params.of(name), claim).set("micros", claim.micros());
        return Plan.later(() -> believedFree.remove(name) ? number(sql.take, params) : Plan.of(OptionalLong.empty()))
                .then(taken -> taken.isPresent()
                        ? Plan.of(answer(claim, taken))
                        : sql.upsert
                                .map(upsert -> upsert(upsert, claim, params))
                                .orElseGet(() -> changeOrInsert(claim, params)))
                .onOneConnection();
    }

    record Upserted(LockRow row, boolean changed) {}

    private static Plan<ClaimResult> upsert(Sql upsert, Claim claim, Params params) {
        return Plan.ask(Ask.rows(upsert, params, row -> new Upserted(LockRow.read(row), row.getInt("changed") == 1)))
                .then(rows -> {
                    List<Upserted> changed =
                            rows.stream().filter(Upserted::changed).toList();
                    if (changed.size() > 1) {
                        // a server that ran it twice answers for both, and only one of them counts
                        return Plan.failed(DatabaseException.unknown(changed.size() + " answers to one attempt"));
                    }
                    if (!changed.isEmpty()) {
                        return Plan.of(ClaimResult.of(changed.get(0).row, claim));
                    }
                    return rows.isEmpty() ? Plan.of(ClaimResult.refused(null)) : notChanged(rows.get(0).row, claim);
                });
    }

    /**
     * Refuses a claim that changed nothing, but not that of an owner who may re-enter: another's statement has the row locked for
     * a moment.
     */
    private static Plan<ClaimResult> notChanged(LockRow row, Claim claim) {
        return claim.mayReenter(row)
                ? Plan.failed(DatabaseException.busy("The row is locked"))
                : Plan.of(ClaimResult.refused(row));
    }

    /**
     * Takes a lock as a plain read decides, which waits for nobody: MySQL can't insert or take in one statement without waiting.
     */
    private Plan<ClaimResult> changeOrInsert(Claim claim, Params params) {
        return row(sql.read, params).then(found -> {
            @Nullable LockRow row = found.orElse(null);
            if (row == null || !row.held()) {
                return number(row == null ? sql.insertGranted.orElseThrow() : sql.take, params)
                        .then(taken -> taken.isEmpty() && claim.again() != null
                                ? Plan.failed(DatabaseException.busy("Another was faster, perhaps the same owner"))
                                : Plan.of(answer(claim, taken)));
            }
            return claim.mayReenter(row) ? reenter(row, claim, params) : Plan.of(ClaimResult.refused(row));
        });
    }

    /** Re-enters a lock and reads its row again: it keeps its lock id, which one number can't tell. */
    private Plan<ClaimResult> reenter(LockRow row, Claim claim, Params params) {
        return number(sql.reenter, params)
                .then(reentered -> reentered.isEmpty()
                        ? notChanged(row, claim)
                        : row(sql.read, params)
                                .then(again -> again.isEmpty()
                                                || again.get().fence() != ClaimResult.valueIn(reentered.getAsLong())
                                        ? Plan.failed(DatabaseException.busy(
                                                "The lock was given back and taken again meanwhile"))
                                        : Plan.of(ClaimResult.of(again.get(), claim))));
    }

    /** Takes several locks, given in order, all or none. */
    public Plan<ClaimResult> acquireAll(List<LockName> names, Claim claim) {
        return dialect.insertsAll() ? upsertAll(names, claim) : changeAll(names, claim);
    }

    private Plan<ClaimResult> changeAll(List<LockName> names, Claim claim) {
        Plan<OptionalLong> takeAll = number(sql.takeAll(names.size()), listed(claim(Params.none(), claim), names));
        return takeAll.then(taken -> taken.isPresent()
                        ? Plan.of(taken)
                        : insertAbsent(names).then(inserted -> inserted ? takeAll : Plan.of(taken)))
                .map(taken -> answer(claim, taken));
    }

    /** Inserts free rows for the names that have none; false if all have one. */
    private Plan<Boolean> insertAbsent(List<LockName> names) {
        return read(names).then(present -> {
            List<LockName> absent =
                    names.stream().filter(name -> !present.containsKey(name)).toList();
            return absent.isEmpty()
                    ? Plan.of(false)
                    : count(sql.insertFree, listed(Params.none(), absent)).map(inserted -> true);
        });
    }

    private Plan<ClaimResult> upsertAll(List<LockName> names, Claim claim) {
        Params params = claim(Params.none(), claim);
        for (int i = 0; i < names.size(); i++) {
            params.set("type" + i, names.get(i).type())
                    .set("id" + i, names.get(i).id());
        }
        return Plan.ask(Ask.rows(sql.takeAll(names.size()), params, row -> row.getLong(1)))
                .ifFailed(e -> SqlErrors.isOutOfRange(e.sqlException()) ? Plan.of(List.of()) : Plan.failed(e))
                .then(taken ->
                        taken.isEmpty() ? Plan.of(ClaimResult.refused(null)) : withOneFence(names, claim, taken));
    }

    /** Reads what an attempt on a group took whose answer never came; refused if not all rows are held under its secret. */
    public Plan<ClaimResult> grantedAll(List<LockName> names, Claim claim) {
        return read(names).then(rows -> {
            boolean all = names.stream()
                    .map(rows::get)
                    .allMatch(row -> row != null && row.isOf(claim.secret()) && row.held());
            return all
                    ? withOneFence(
                            names,
                            claim,
                            rows.values().stream().map(ClaimResult::encoded).toList())
                    : Plan.of(ClaimResult.refused(null));
        });
    }

    /** Gives all rows of a group the largest fence among them, where each got a fence of its own. */
    private Plan<ClaimResult> withOneFence(List<LockName> names, Claim claim, List<Long> taken) {
        ClaimResult answer = ClaimResult.grantedTogether(claim.secret(), taken);
        long lower = taken.stream()
                .filter(each -> ClaimResult.valueIn(each) < answer.fence())
                .count();
        if (lower == 0) {
            return Plan.of(answer);
        }
        List<ListedRow> rows = names.stream()
                .map(name -> new ListedRow(name, claim.secret(), 0))
                .toList();
        return count(sql.raiseFences(), ListedRow.bind(Params.none().set("fence", answer.fence()), json, rows))
                // one that is gone already has the fence that it had, so whoever gets it next may get this one
                .then(raised -> raised == lower
                        ? Plan.of(answer)
                        : Plan.failed(DatabaseException.busy("One of them was taken away")))
                // the rows are granted with fences that differ: not to be used, and not to be tried again over them
                .ifFailed(e -> Plan.failed(new DatabaseException(
                        Meaning.FAILED, "A group of locks got no common fence", e.sqlException())));
    }

    /** Gives the lock from one holder to the next. Refused if the former does not have it, or its row is pinned. */
    public Plan<ClaimResult> handOver(LockName name, String from, Claim claim) {
        return give(sql.handOver, Params.of(name).set("from", from), claim);
    }

    /** Takes the lock from the holder with this fence. Refused if it moved on, or its row is pinned. */
    public Plan<ClaimResult> takeOver(LockName name, long seen, Claim claim) {
        return give(sql.takeOver, Params.of(name).set("seen", seen), claim);
    }

    private Plan<ClaimResult> give(Sql statement, Params row, Claim claim) {
        return number(statement, claim(row, claim).set("micros", claim.micros()))
                .map(taken -> answer(claim, taken));
    }

    private static ClaimResult answer(Claim claim, OptionalLong taken) {
        return taken.isPresent() ? ClaimResult.granted(claim.secret(), taken.getAsLong()) : ClaimResult.refused(null);
    }

    /**
     * Writes down which of a lock's fences is in use, because it passes on from hand to hand no more; false if its row is locked,
     * or not held under this secret.
     */
    public Plan<Boolean> settle(LockName name, String secret, long fence) {
        return number(sql.settle, Params.of(name).set("lockId", secret).set("fence", fence))
                .map(OptionalLong::isPresent);
    }

    /**
     * Frees the lock; nothing if it is not held under this secret, or its row is locked right now.
     *
     * @param wantedAgain whether others of this process wait for it: whoever gets it first is told
     */
    public Plan<OptionalLong> release(LockName name, String secret, boolean wantedAgain) {
        return number(sql.release, Params.of(name).set("lockId", secret).set("mark", wantedAgain ? me : 0))
                .map(released -> {
                    released.ifPresent(fence -> believeFree(name));
                    return released;
                });
    }

    /** Remembers that a lock was freed a moment ago. */
    public void believeFree(LockName name) {
        if (believedFree.size() >= MAX_BELIEVED_FREE) {
            believedFree.clear();
        }
        believedFree.add(name);
    }

    /** Frees the lock when it has been held for the given time. */
    public Plan<OptionalLong> releaseAt(LockName name, String secret, long micros) {
        return number(
                sql.releaseAt,
                Params.of(name).set("lockId", secret).set("micros", micros).set("lockIdOfNobody", newSecret()));
    }

    /** Frees the given locks in one statement; answers how many. */
    public Plan<Integer> releaseAll(List<ListedRow> rows) {
        return count(sql.releaseListed, ListedRow.bind(Params.none(), json, rows));
    }

    /** Makes the lock last this long from now, never shorter; answers with the new expiry. */
    public Plan<OptionalLong> renew(LockName name, String secret, long micros) {
        return expiry(sql.renew, name, secret, micros);
    }

    /** Adds so many microseconds to the expiry. */
    public Plan<OptionalLong> extend(LockName name, String secret, long micros) {
        return expiry(sql.extend, name, secret, micros);
    }

    /** Shortens the lock to this long from now. */
    public Plan<OptionalLong> leave(LockName name, String secret, long micros) {
        return expiry(sql.leave, name, secret, micros);
    }

    private Plan<OptionalLong> expiry(Sql statement, LockName name, String secret, long micros) {
        return number(statement, Params.of(name).set("lockId", secret).set("micros", micros))
                .map(number -> number.isPresent() ? OptionalLong.of(ClaimResult.valueIn(number.getAsLong())) : number);
    }

    /** Renews the given locks in one statement, in key order, skipping locked rows; answers how many. */
    public Plan<Integer> renewAll(List<ListedRow> rows) {
        return count(sql.renewListed, ListedRow.bind(Params.none(), json, rows));
    }

    /** Reads the row of a lock. */
    public Plan<Optional<LockRow>> read(LockName name) {
        return row(sql.read, Params.of(name));
    }

    /** Reads the rows of several locks, those that are there. */
    public Plan<Map<LockName, LockRow>> read(List<LockName> names) {
        return Plan.ask(Ask.rows(sql.readListed, listed(Params.none(), names), LockRow::read))
                .map(rows -> rows.stream().collect(Collectors.toMap(LockRow::name, Function.identity())));
    }

    /** Reads the rows of several locks, of which some may be named more than once. */
    public Plan<Map<LockName, LockRow>> read(Stream<LockName> names) {
        return read(names.distinct().toList());
    }

    /**
     * Tells whether one of these locks has a row, which may be locked, or that can't be told. If none has, nobody has the locks:
     * what was locked is a gap between rows, or a row that is about to come.
     */
    public Plan<Boolean> mayBeLocked(List<LockName> names) {
        return read(names).map(rows -> !rows.isEmpty()).ifFailed(e -> Plan.of(true));
    }

    /** Reads the row, if the lock is held under this secret now. */
    public Plan<Optional<LockRow>> check(LockName name, String secret) {
        return row(sql.check, Params.of(name).set("lockId", secret));
    }

    /**
     * Finds out what became of an attempt whose answer never came. It writes the row first, so that an attempt that is still at
     * work on it ends before the read; one that is still on its way is not seen. Nothing if the row is not there or not ours; if
     * it is locked, that is busy.
     */
    public Plan<Optional<LockRow>> resolve(LockName name, String secret) {
        return number(sql.probe, Params.of(name))
                .then(written -> row(sql.read, Params.of(name)).then(row -> {
                    // even if it shows our secret: at READ UNCOMMITTED that may yet be rolled back
                    return written.isEmpty() && row.isPresent()
                            ? Plan.failed(DatabaseException.busy("The row is locked"))
                            : Plan.of(row.filter(found -> found.isOf(secret) && found.held()));
                }))
                .onOneConnection();
    }

    /** Tells the holder's process that others wait; false if there is no holder, or the row is locked right now. */
    public Plan<Boolean> markWanted(LockName name) {
        return number(sql.markWanted, Params.of(name).set("me", me)).map(OptionalLong::isPresent);
    }

    private static Plan<OptionalLong> number(Sql statement, Params params) {
        return Plan.ask(Ask.number(statement, params));
    }

    private static Plan<Integer> count(Sql statement, Params params) {
        return Plan.ask(Ask.count(statement, params));
    }

    private static Plan<Optional<LockRow>> row(Sql statement, Params params) {
        return Plan.ask(Ask.rows(statement, params, LockRow::read))
                .map(rows -> rows.stream().findFirst());
    }

    /** Makes the guard, with the statements of this table. */
    public GuardSql guard(Database database) {
        return new GuardSql(database, sql);
    }

    /** Makes the plans of the operator, with the statements of this table. */
    public AdminSql admin() {
        return new AdminSql(sql);
    }

    private Params listed(Params params, List<LockName> names) {
        return ListedRow.bind(params, json, names.stream().map(ListedRow::of).toList());
    }

    private Params claim(Params params, Claim claim) {
        return params.set("lockId", claim.secret())
                .set("owner", claim.owner())
                .set("duration", claim.micros())
                .set("note", claim.note())
                .set("again", claim.again())
                .set("reserve", claim.reserve())
                .set("me", me);
    }
}
