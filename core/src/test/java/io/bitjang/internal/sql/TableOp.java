// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One of our statements, and the values for it as one side sees its rows.
 *
 * @param place where it runs, and what becomes of it there
 * @param params made anew for each side, whose fences are its own
 */
record TableOp(String what, Place place, Function<LockSql, Sql> sql, Function<Side, Params> params, Kind kind) {

    static final List<LockName> NAMES = List.of(LockName.of("a"), LockName.of("b"));

    private static final List<String> OWNERS = List.of("kim", "lee");
    private static final long HOUR = 3_600_000_000L;

    /** So large that the next fence never depends on the clock, which differs a little from side to side. */
    private static final int RESERVE = 1_000_000_000;

    /** So that rows are held, and pinned. */
    private static final Pattern OFTEN = Pattern.compile("take of|upsert|insert granted|guard");

    /** How the answer is read. */
    enum Kind {
        /** A number that carries flags. */
        NUMBER,
        /** A number that nobody looks at, but whether there is one. */
        ANY,
        NUMBERS,
        COUNT,
        ROWS,
        UPSERTED
    }

    /** Where a statement runs. */
    enum Place {
        /** By itself: each of these is a transaction of its own, of no other statement. */
        ALONE,
        /** In a longer transaction, too. */
        TRANSACTION,
        /**
         * In a longer transaction, too, which is rolled back if nothing comes of it: the guard does so, and what a server leaves
         * locked then is its own business.
         */
        TRANSACTION_OR_NOTHING
    }

    /** What both have in common: the row, null if there is none. */
    interface Side {
        @Nullable
        LockRow row(LockName name);
    }

    /**
     * Whether its own commit may take a while, so that others meet the row locked. Not where there may be several rows: which of
     * those that did not meet the condition stay locked until then is the server's business.
     */
    boolean mayCommitLate() {
        return place == Place.ALONE && (kind == Kind.NUMBER || kind == Kind.UPSERTED) && !what.startsWith("take both");
    }

    /** Asks on a side. */
    Ask<?> ask(Sql statement, Side side) {
        Params values = params.apply(side);
        return switch (kind) {
            case NUMBER, ANY -> Ask.number(statement, values);
            case NUMBERS -> Ask.rows(statement, values, row -> row.getLong(1));
            case COUNT -> Ask.count(statement, values);
            case ROWS -> Ask.rows(statement, values, LockRow::read);
            case UPSERTED ->
                Ask.rows(
                        statement,
                        values,
                        row -> new LockStore.Upserted(LockRow.read(row), row.getInt("changed") == 1));
        };
    }

    /** All statements that the engine sends to this database, with values by chance. */
    static List<TableOp> all(Random random, Dialect dialect) {
        return new Values(random, dialect.bindsJson()).ops(dialect);
    }

    private static final class Values {
        private final boolean json;
        private final LockName name;
        private final String secret;
        private final String other;
        private final String owner;
        private final @Nullable String again;
        private final long micros;
        private final int reserve;
        private final int me;
        private final int mark;
        private final int passed;
        private final boolean mine;
        private final @Nullable String note;
        private final List<LockName> some;

        /** An hour's difference: what is idle never depends on the clocks, which differ a little from side to side. */
        private final long idle;

        Values(Random random, boolean json) {
            this.json = json;
            name = NAMES.get(random.nextInt(NAMES.size()));
            secret = "another";
            other = Long.toHexString(random.nextLong()); // each grant has its own
            owner = OWNERS.get(random.nextInt(OWNERS.size()));
            again = random.nextInt(3) == 0 ? owner : null;
            micros = random.nextInt(3) == 0 ? 1 : HOUR;
            reserve = random.nextInt(3) == 0 ? RESERVE : 0;
            me = 1 + random.nextInt(2);
            mark = random.nextInt(2) * me;
            passed = random.nextInt(2) * 3;
            mine = random.nextInt(4) > 0; // most of the time the row's own secret
            some = random.nextBoolean() ? NAMES : List.of(name);
            note = random.nextBoolean() ? "note of " + other : null;
            idle = random.nextInt(4) == 0 ? HOUR : -HOUR;
        }

        List<TableOp> ops(Dialect dialect) {
            String about = " of " + name + " by " + owner + (mine ? " with the row's secret" : " with " + secret);
            String taken = " of " + name + " by " + owner + " as " + other + " for " + micros;
            return Stream.of(
                            // the engine inserts free rows only where there are none: H2 and MySQL would wait for those
                            // that
                            // are locked
                            count("insert absent", sql -> sql.insertFree, this::absent),
                            number("take" + taken, sql -> sql.take, this::claim),
                            op(
                                    "upsert" + taken + " again " + again,
                                    Place.ALONE,
                                    sql -> sql.upsert.orElseThrow(),
                                    this::claim,
                                    Kind.UPSERTED),
                            number("insert granted" + taken, sql -> sql.insertGranted.orElseThrow(), this::claim),
                            number("reenter" + taken, sql -> sql.reenter, s -> claim(s).set("again", owner)),
                            number("hand over" + taken, sql -> sql.handOver, s -> claim(s).set("from", held(s))),
                            number("take over" + taken, sql -> sql.takeOver, s -> claim(s).set("seen", fence(s))),
                            number("release" + about, sql -> sql.release, this::of),
                            change("release with the caller" + about, sql -> sql.releaseWithCaller, this::of),
                            number("release at" + about, sql -> sql.releaseAt, this::of),
                            number("renew" + about, sql -> sql.renew, this::of),
                            number("extend" + about, sql -> sql.extend, this::of),
                            number("leave" + about, sql -> sql.leave, this::of),
                            number("settle" + about, sql -> sql.settle, this::fenced),
                            change("force" + about, sql -> sql.force, this::fenced),
                            change("force unsettled" + about, sql -> sql.forceUnsettled, this::fenced),
                            number("mark wanted" + about, sql -> sql.markWanted, this::of),
                            op("probe" + about, Place.ALONE, sql -> sql.probe, this::of, Kind.ANY),
                            count("renew " + some + " for " + micros, sql -> sql.renewListed, this::some),
                            count("release " + some, sql -> sql.releaseListed, this::some),
                            count(
                                    "raise fences of " + some,
                                    LockSql::raiseFences,
                                    s -> some(s).set("fence", largest(s) + passed)),
                            count(
                                    "sweep" + about,
                                    sql -> sql.deleteIdle,
                                    s -> fenced(s).set("idle", idle)),
                            rows("read" + about, Place.TRANSACTION, sql -> sql.read, this::of),
                            rows("read both", Place.TRANSACTION, sql -> sql.readListed, this::names),
                            rows("check" + about, Place.ALONE, sql -> sql.check, this::of),
                            rows("guard" + about, Place.TRANSACTION_OR_NOTHING, sql -> sql.guard, this::of),
                            op(
                                    "take both" + taken,
                                    Place.ALONE,
                                    sql -> sql.takeAll(NAMES.size()),
                                    this::claimOfBoth,
                                    dialect.insertsAll() ? Kind.NUMBERS : Kind.NUMBER))
                    .filter(op -> dialect.upsert("", "").isEmpty()
                            ? !op.what.startsWith("upsert")
                            : !op.what.startsWith("insert granted"))
                    .flatMap(op -> Stream.generate(() -> op)
                            .limit(OFTEN.matcher(op.what).lookingAt() ? 4 : 1))
                    .toList();
        }

        private static TableOp op(
                String what, Place place, Function<LockSql, Sql> sql, Function<Side, Params> params, Kind kind) {
            return new TableOp(what, place, sql, params, kind);
        }

        private static TableOp number(String what, Function<LockSql, Sql> sql, Function<Side, Params> params) {
            return op(what, Place.ALONE, sql, params, Kind.NUMBER);
        }

        private static TableOp change(String what, Function<LockSql, Sql> sql, Function<Side, Params> params) {
            return op(what, Place.TRANSACTION_OR_NOTHING, sql, params, Kind.NUMBER);
        }

        private static TableOp count(String what, Function<LockSql, Sql> sql, Function<Side, Params> params) {
            return op(what, Place.ALONE, sql, params, Kind.COUNT);
        }

        private static TableOp rows(
                String what, Place place, Function<LockSql, Sql> sql, Function<Side, Params> params) {
            return op(what, place, sql, params, Kind.ROWS);
        }

        private Params claim(Side side) {
            return Params.of(name)
                    .set("lockId", other)
                    .set("owner", owner)
                    .set("duration", micros)
                    .set("micros", micros)
                    .set("note", note)
                    .set("again", again)
                    .set("reserve", reserve)
                    .set("me", me);
        }

        private Params claimOfBoth(Side side) {
            Params params = claim(side);
            names(side).values.forEach(params::set);
            for (int i = 0; i < NAMES.size(); i++) {
                params.set("type" + i, NAMES.get(i).type())
                        .set("id" + i, NAMES.get(i).id());
            }
            return params;
        }

        private Params of(Side side) {
            return Params.of(name)
                    .set("lockId", held(side))
                    .set("micros", micros)
                    .set("mark", mark)
                    .set("me", me)
                    .set("lockIdOfNobody", "nobody");
        }

        private Params fenced(Side side) {
            return of(side).set("fence", fence(side) + passed).set("forced", "operator: why not");
        }

        private Params some(Side side) {
            return listed(some.stream()
                    .map(each -> new ListedRow(each, secretOf(side.row(each)), micros))
                    .toList());
        }

        private Params names(Side side) {
            return listed(NAMES.stream().map(ListedRow::of).toList());
        }

        private Params absent(Side side) {
            return listed(NAMES.stream()
                    .filter(each -> side.row(each) == null)
                    .map(ListedRow::of)
                    .toList());
        }

        /** In both ways: a statement takes what it needs. */
        private Params listed(List<ListedRow> rows) {
            Params params = ListedRow.bind(Params.none(), false, rows);
            return json ? ListedRow.bind(params, true, rows) : params;
        }

        private String held(Side side) {
            return mine ? secretOf(side.row(name)) : secret;
        }

        private String secretOf(@Nullable LockRow row) {
            return row == null ? secret : Objects.requireNonNullElse(row.lockId(), secret);
        }

        private long fence(Side side) {
            return fence(side, name);
        }

        private static long largest(Side side) {
            return NAMES.stream().mapToLong(each -> fence(side, each)).max().orElseThrow();
        }

        private static long fence(Side side, LockName of) {
            @Nullable LockRow row = side.row(of);
            return row == null ? 0 : row.fence();
        }
    }
}
