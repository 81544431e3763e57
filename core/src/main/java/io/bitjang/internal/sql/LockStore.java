// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The operations on the table of locks, each as few statements as the database allows. Every method throws {@link
 * DatabaseException} and repeats nothing: what to do about a failure is the engine's business. Thread-safe.
 */
public final class LockStore {

    /** How many names are remembered as free before all are forgotten. */
    private static final int MAX_BELIEVED_FREE = 10_000;

    private final Database database;
    private final LockSql sql;
    private final boolean json;

    /**
     * Locks that this instance released last: they are taken by the cheapest statement, which can do nothing else. A wrong
     * belief costs one more statement, nothing else.
     */
    private final Set<LockName> believedFree = ConcurrentHashMap.newKeySet();

    /** The number of this process among those that wait. */
    private final int me = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);

    /** Over this database. */
    public LockStore(Database database, Tables tables) {
        this.database = database;
        Dialect dialect = database.dialect();
        this.sql = new LockSql(dialect, tables);
        this.json = dialect.bindsJson();
    }

    /** Takes one lock if it is free, expired, or its owner may re-enter. */
    public Answer acquire(LockName name, Claim claim) {
        Params params = claim(Params.of(name), claim).set("micros", claim.micros());
        return database.run(session -> {
            OptionalLong taken = believedFree.remove(name) ? session.number(sql.take, params) : OptionalLong.empty();
            if (taken.isPresent()) {
                return Answer.granted(claim.secret(), taken.getAsLong());
            }
            if (sql.upsert.text().isEmpty()) {
                return changeOrInsert(session, claim, params);
            }
            List<Upserted> rows = session.query(
                    sql.upsert, params, row -> new Upserted(LockRow.read(row), row.getInt("changed") == 1));
            List<Upserted> changed = rows.stream().filter(Upserted::changed).toList();
            if (changed.size() > 1) {
                // a server that ran it twice answers for both, and only one of them counts
                throw new SQLTransientConnectionException(changed.size() + " answers to one attempt", "08007");
            }
            if (!changed.isEmpty()) {
                return Answer.of(changed.get(0).row, claim);
            }
            return rows.isEmpty() ? Answer.refused(null) : notChanged(rows.get(0).row, claim);
        });
    }

    private record Upserted(LockRow row, boolean changed) {}

    /** The owner who may re-enter is not refused because another's statement has the row locked for a moment. */
    private static Answer notChanged(LockRow row, Claim claim) throws SQLException {
        if (claim.again() != null && claim.again().equals(row.owner()) && row.held()) {
            throw new SQLException("The row is locked", "55P03");
        }
        return Answer.refused(row);
    }

    /** MySQL has no statement that inserts or takes without ever waiting: a plain read, which waits for nobody, decides. */
    private Answer changeOrInsert(Session session, Claim claim, Params params) throws SQLException {
        LockRow row = session.row(sql.read, params).orElse(null);
        if (row == null || !row.held()) {
            OptionalLong taken = session.number(row == null ? sql.insertGranted : sql.take, params);
            if (taken.isEmpty() && claim.again() != null) {
                throw new SQLException("Another was faster, perhaps the same owner", "55P03");
            }
            return taken.isPresent() ? Answer.granted(claim.secret(), taken.getAsLong()) : Answer.refused(null);
        }
        if (claim.again() == null || !claim.again().equals(row.owner())) {
            return Answer.refused(row);
        }
        OptionalLong reentered = session.number(sql.reenter, params);
        if (reentered.isEmpty()) {
            return notChanged(row, claim);
        }
        // a re-entered lock keeps its lock id, which one number can't tell
        LockRow again = session.row(sql.read, params).orElse(null);
        if (again == null || again.fence() != reentered.getAsLong() >> 3) {
            throw new SQLException("The lock was given back and taken again meanwhile", "55P03");
        }
        return Answer.of(again, claim);
    }

    /** Takes several locks, given in order, all or none. */
    public Answer acquireAll(List<LockName> names, Claim claim) {
        return database.dialect().insertsAll() ? upsertAll(names, claim) : changeAll(names, claim);
    }

    private Answer changeAll(List<LockName> names, Claim claim) {
        Sql takeAll = sql.takeAll(names.size());
        Params params = listed(claim(Params.none(), claim), names);
        OptionalLong taken = database.run(session -> session.number(takeAll, params));
        if (taken.isEmpty() && insertAbsent(names)) {
            taken = database.run(session -> session.number(takeAll, params));
        }
        return taken.isPresent() ? Answer.granted(claim.secret(), taken.getAsLong()) : Answer.refused(null);
    }

    /** Inserts free rows for the names that have none; false if all have one. */
    private boolean insertAbsent(List<LockName> names) {
        Map<LockName, LockRow> present = read(names);
        List<LockName> absent =
                names.stream().filter(name -> !present.containsKey(name)).toList();
        if (absent.isEmpty()) {
            return false;
        }
        database.run(session -> session.update(sql.insertFree, listed(Params.none(), absent)));
        return true;
    }

    private Answer upsertAll(List<LockName> names, Claim claim) {
        Params params = claim(Params.none(), claim);
        for (int i = 0; i < names.size(); i++) {
            params.set("type" + i, names.get(i).type())
                    .set("id" + i, names.get(i).id());
        }
        List<Long> taken;
        try {
            taken = database.run(session -> session.query(sql.takeAll(names.size()), params, row -> row.getLong(1)));
        } catch (DatabaseException e) {
            if (SqlErrors.isOutOfRange(e.sqlException())) {
                return Answer.refused(null);
            }
            throw e;
        }
        return withOneFence(names, claim, taken);
    }

    /** What the rows of a group say that an attempt took whose answer never came; refused if they are not all held under its secret. */
    public Answer grantedAll(List<LockName> names, Claim claim) {
        Map<LockName, LockRow> rows = read(names);
        boolean all =
                names.stream().map(rows::get).allMatch(row -> row != null && row.isOf(claim.secret()) && row.held());
        return all
                ? withOneFence(
                        names,
                        claim,
                        rows.values().stream().map(LockRow::encoded).toList())
                : Answer.refused(null);
    }

    /** Where each row of a group got a fence of its own, all get the largest. */
    private Answer withOneFence(List<LockName> names, Claim claim, List<Long> taken) {
        long fence = taken.stream().mapToLong(each -> each >> 3).max().orElseThrow();
        if (taken.stream().anyMatch(other -> other >> 3 != fence)) {
            List<Listed> rows = names.stream()
                    .map(name -> new Listed(name, claim.secret(), 0))
                    .toList();
            Params raise = Listed.bind(Params.none().set("fence", fence), json, rows);
            try {
                database.run(session -> session.update(sql.raiseFences(), raise));
            } catch (DatabaseException e) {
                // the rows are granted with fences that differ: not to be used, and not to be tried again over them
                throw new DatabaseException(
                        DatabaseException.Meaning.FAILED, "A group of locks got no common fence", e.sqlException());
            }
        }
        return Answer.granted(
                claim.secret(),
                fence << 3 | taken.stream().mapToLong(each -> each & 7).reduce(0, (a, b) -> a | b));
    }

    /** Gives the lock from one holder to the next. Refused if the former does not have it, or its row is pinned. */
    public Answer handOver(LockName name, String from, Claim claim) {
        return give(sql.handOver, Params.of(name).set("from", from), claim);
    }

    /** Takes the lock from the holder with this fence. Refused if it moved on, or its row is pinned. */
    public Answer takeOver(LockName name, long seen, Claim claim) {
        return give(sql.takeOver, Params.of(name).set("seen", seen), claim);
    }

    private Answer give(Sql statement, Params row, Claim claim) {
        Params params = claim(row, claim).set("micros", claim.micros());
        OptionalLong answer = database.run(session -> session.number(statement, params));
        return answer.isPresent() ? Answer.granted(claim.secret(), answer.getAsLong()) : Answer.refused(null);
    }

    /** The lock passes on from hand to hand no more: the table learns which of its fences is in use. False if its row is locked. */
    public boolean settle(LockName name, String secret, long fence) {
        Params params = Params.of(name).set("lockId", secret).set("fence", fence);
        return database.run(session -> session.number(sql.settle, params)).isPresent();
    }

    /**
     * Frees the lock; nothing if it is not held under this secret, or its row is locked right now.
     *
     * @param wantedAgain whether others of this process wait for it: whoever gets it first is told
     */
    public OptionalLong release(LockName name, String secret, boolean wantedAgain) {
        Params params = Params.of(name).set("lockId", secret).set("mark", wantedAgain ? me : 0);
        OptionalLong released = database.run(session -> session.number(sql.release, params));
        if (released.isPresent()) {
            believeFree(name);
        }
        return released;
    }

    /** It was freed a moment ago. */
    public void believeFree(LockName name) {
        if (believedFree.size() >= MAX_BELIEVED_FREE) {
            believedFree.clear();
        }
        believedFree.add(name);
    }

    /** Frees the lock when it has been held for the given time. */
    public OptionalLong releaseAt(LockName name, String secret, long micros) {
        Params params =
                Params.of(name).set("lockId", secret).set("micros", micros).set("lockIdOfNobody", GrantKey.newSecret());
        return database.run(session -> session.number(sql.releaseAt, params));
    }

    /** Frees the given locks in one statement; answers how many. */
    public int releaseAll(List<Listed> rows) {
        return database.run(session -> session.update(sql.releaseListed, Listed.bind(Params.none(), json, rows)));
    }

    /** Makes the lock last so long from now, never shorter; answers the new expiry. */
    public OptionalLong renew(LockName name, String secret, long micros) {
        return expiry(sql.renew, name, secret, micros);
    }

    /** Adds to the expiry. */
    public OptionalLong extend(LockName name, String secret, long micros) {
        return expiry(sql.extend, name, secret, micros);
    }

    /** Cuts the lock down to so long from now. */
    public OptionalLong leave(LockName name, String secret, long micros) {
        return expiry(sql.leave, name, secret, micros);
    }

    private OptionalLong expiry(Sql statement, LockName name, String secret, long micros) {
        Params params = Params.of(name).set("lockId", secret).set("micros", micros);
        OptionalLong answer = database.run(session -> session.number(statement, params));
        return answer.isPresent() ? OptionalLong.of(answer.getAsLong() >> 3) : answer;
    }

    /** Renews the given locks in one statement, in key order, skipping locked rows; answers how many. */
    public int renewAll(List<Listed> rows) {
        return database.run(session -> session.update(sql.renewListed, Listed.bind(Params.none(), json, rows)));
    }

    /** The row of a lock. */
    public Optional<LockRow> read(LockName name) {
        return database.run(session -> session.row(sql.read, Params.of(name)));
    }

    /** The rows of several locks, those that are there. */
    public Map<LockName, LockRow> read(List<LockName> names) {
        return database
                .run(session -> session.query(sql.readListed, listed(Params.none(), names), LockRow::read))
                .stream()
                .collect(Collectors.toMap(LockRow::name, Function.identity()));
    }

    /**
     * Whether one of these has a row, which may be locked, or that can't be told. If none has, nobody has them: what was locked is a
     * gap between rows, or a row that is about to come.
     */
    public boolean mayBeLocked(List<LockName> names) {
        try {
            return !read(names).isEmpty();
        } catch (DatabaseException e) {
            return true;
        }
    }

    /** The row, if the lock is held under this secret now. */
    public Optional<LockRow> check(LockName name, String secret) {
        return database.run(session -> session.row(sql.check, Params.of(name).set("lockId", secret)));
    }

    /**
     * What became of an attempt whose answer never came. It writes the row first, so that an attempt that is still at work on it
     * ends before the read; one that is still on its way is not seen. Nothing if the row is not there or not ours; if it is locked,
     * that is busy.
     */
    public Optional<LockRow> resolve(LockName name, String secret) {
        return database.run(session -> {
            boolean written = session.number(sql.probe, Params.of(name)).isPresent();
            Optional<LockRow> row = session.row(sql.read, Params.of(name));
            // even if it shows our secret: at READ UNCOMMITTED that may yet be rolled back
            if (!written && row.isPresent()) {
                throw new SQLException("The row is locked", "55P03");
            }
            return row.filter(found -> found.isOf(secret) && found.held());
        });
    }

    /** Tells the holder's process that others wait; false if there is no holder, or the row is locked right now. */
    public boolean markWanted(LockName name) {
        return database.run(session ->
                        session.number(sql.markWanted, Params.of(name).set("me", me)))
                .isPresent();
    }

    /** The statements of the guard. */
    public GuardSql guard() {
        return new GuardSql(database, sql);
    }

    /** The statements of the operator. */
    public AdminSql admin() {
        return new AdminSql(database, sql);
    }

    private Params listed(Params params, List<LockName> names) {
        return Listed.bind(params, json, names.stream().map(Listed::of).toList());
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
