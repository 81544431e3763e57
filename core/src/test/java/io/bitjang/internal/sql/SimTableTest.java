// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.OnH2;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The simulated table is honest: random histories of statements, on several connections, are answered as a server answers them. */
class SimTableTest extends OnH2 {

    private static final Tables TABLES = new Tables(null, "bitjang_");
    private static final List<LockName> NAMES = List.of(LockName.of("a"), LockName.of("b"));
    private static final List<String> SECRETS = List.of("s0", "s1", "s2", "s3");
    private static final List<String> OWNERS = List.of("kim", "lee");
    private static final long HOUR = 3_600_000_000L;

    /** What is part of longer transactions: the guard's statements, and the operator's with the audit trail. */
    private static final Pattern IN_TRANSACTIONS = Pattern.compile("guard|release with|read|force");

    /** Times and fences differ by what passes between the two; what matters differs by hours, or by one. */
    private static final long ABOUT = 60_000_000L;

    /** One of our statements, and the values for it as one side sees its rows. */
    private record Op(String what, Function<LockSql, Sql> sql, Function<Side, Params> params, Kind kind) {}

    private enum Kind {
        NUMBER,
        COUNT,
        ROWS,
        UPSERTED
    }

    /** What both have in common. */
    private interface Side {
        LockRow row(LockName name);
    }

    private DataSource source;
    private Dialect dialect;
    private LockSql real;
    private LockStore simulatedStore;

    @BeforeEach
    void build() {
        source = seen.dataSource();
        dialect = Dialects.detect(source);
        real = new LockSql(dialect, TABLES);
        SimDialect language = new SimDialect(SimTable.Server.SKIPS);
        simulatedStore = new LockStore(language, TABLES, Ticker.SYSTEM, () -> "");
    }

    @Test
    void random_histories_are_answered_as_a_server_answers_them() throws Exception {
        for (int seed = 1; seed <= 60; seed++) {
            new History(seed).run(60);
        }
    }

    private final class History {
        private final Random random;
        private final List<String> told = new ArrayList<>();
        private final SimTable table = new SimTable(SimTable.Server.SKIPS, simulatedStore, (name, before, after) -> {});
        private final List<Connection> connections = new ArrayList<>();
        private final List<SimRows.@Nullable Transaction> transactions = new ArrayList<>(Arrays.asList(null, null));
        private final int seed;

        History(int seed) throws SQLException {
            this.seed = seed;
            this.random = new Random(seed);
            execute("DELETE FROM " + TABLES.locks());
            for (int i = 0; i < 3; i++) {
                connections.add(source.getConnection());
            }
            // the last one commits each statement
            connections.get(0).setAutoCommit(false);
            connections.get(1).setAutoCommit(false);
        }

        void run(int steps) throws SQLException {
            try {
                for (LockName name : NAMES) {
                    step(2, ops(name).get(0));
                }
                for (int i = 0; i < steps; i++) {
                    int on = random.nextInt(3);
                    if (on < 2 && random.nextInt(3) == 0) {
                        end(on);
                    } else {
                        List<Op> ops = ops(NAMES.get(random.nextInt(2)));
                        // rows are inserted at first only: for those that are there H2 would wait, and the engine never
                        // asks it to
                        Op op = ops.get(1 + random.nextInt(ops.size() - 1));
                        step(IN_TRANSACTIONS.matcher(op.what).lookingAt() ? on : 2, op);
                    }
                }
            } finally {
                for (Connection connection : connections) {
                    if (!connection.getAutoCommit()) {
                        connection.rollback();
                        connection.setAutoCommit(true);
                    }
                    connection.close();
                }
            }
        }

        private void end(int on) throws SQLException {
            boolean commit = random.nextBoolean();
            told.add(on + ": " + (commit ? "commit" : "rollback"));
            SimRows.@Nullable Transaction transaction = transactions.set(on, null);
            if (commit) {
                connections.get(on).commit();
            } else {
                connections.get(on).rollback();
            }
            if (transaction != null && commit) {
                transaction.commit();
            } else if (transaction != null) {
                transaction.rollback();
            }
        }

        private void step(int on, Op op) throws SQLException {
            told.add(on + ": " + op.what);
            table.clock = now();
            Object expected = really(on, op);
            Object simulated = simulated(on, op);
            assertThat(alike(expected, simulated))
                    .as(
                            "seed %s%n%s%nthe server says %s%nthe simulation says %s",
                            seed, String.join("\n", told), expected, simulated)
                    .isTrue();
        }

        private long now() throws SQLException {
            return new Statements(connections.get(2), dialect)
                    .query(new Sql("SELECT " + dialect.now(), List.of()), Params.none(), row -> row.getLong(1))
                    .get(0);
        }

        private Object really(int on, Op op) {
            Statements statements = new Statements(connections.get(on), dialect);
            Side side = name -> rowOn(statements, name);
            try {
                return ask(op, op.sql.apply(real), op.params.apply(side)).on(statements);
            } catch (SQLException e) {
                return SqlErrors.meaningOf(e);
            }
        }

        private LockRow rowOn(Statements statements, LockName name) {
            try {
                return statements
                        .query(real.read, Params.of(name), LockRow::read)
                        .get(0);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        private Object simulated(int on, Op op) {
            SimRows.Transaction transaction = on == 2 ? table.begin() : begun(on);
            Side side =
                    name -> table.run(transaction, Ask.rows(simulatedStore.sql.read, Params.of(name), LockRow::read))
                            .get(0);
            boolean done = false;
            try {
                Object answer =
                        table.run(transaction, ask(op, op.sql.apply(simulatedStore.sql), op.params.apply(side)));
                done = true;
                return answer;
            } catch (SimRows.Blocked blocked) {
                return DatabaseException.Meaning.BUSY;
            } finally {
                if (on == 2 && done) {
                    transaction.commit();
                } else if (on == 2) {
                    transaction.rollback();
                }
            }
        }

        private SimRows.Transaction begun(int on) {
            SimRows.@Nullable Transaction open = transactions.get(on);
            if (open == null) {
                open = table.begin();
                transactions.set(on, open);
            }
            return open;
        }

        private List<Op> ops(LockName name) {
            String secret = SECRETS.get(random.nextInt(SECRETS.size()));
            String other = SECRETS.get(random.nextInt(SECRETS.size()));
            String owner = OWNERS.get(random.nextInt(OWNERS.size()));
            @Nullable String again = random.nextInt(3) == 0 ? owner : null;
            long micros = random.nextInt(3) == 0 ? 1 : HOUR;
            int reserve = random.nextInt(3) == 0 ? 500 : 0;
            int me = 1 + random.nextInt(2);
            int mark = random.nextInt(2) * me;
            int passed = random.nextInt(2) * 3;
            boolean mine = random.nextInt(3) > 0; // most of the time the row's own secret
            Function<Side, @Nullable String> held =
                    side -> mine ? Objects.requireNonNullElse(side.row(name).lockId(), secret) : secret;
            Function<Side, Params> claim = side -> Params.of(name)
                    .set("lockId", other)
                    .set("owner", owner)
                    .set("duration", micros)
                    .set("micros", micros)
                    .set("note", null)
                    .set("again", again)
                    .set("reserve", reserve)
                    .set("me", me);
            Function<Side, Params> of = side -> Params.of(name)
                    .set("lockId", held.apply(side))
                    .set("micros", micros)
                    .set("mark", mark)
                    .set("me", me)
                    .set("lockIdOfNobody", "nobody");
            Function<Side, Params> fenced = side -> of.apply(side)
                    .set("fence", side.row(name).fence() + passed)
                    .set("seen", side.row(name).fence())
                    .set("forced", "operator: why not");
            Function<Side, Params> both = side -> Params.none()
                    .set("types", types())
                    .set("ids", ids())
                    .set(
                            "lockIds",
                            NAMES.stream()
                                    .map(each -> Objects.requireNonNullElse(
                                            side.row(each).lockId(), secret))
                                    .toArray(String[]::new))
                    .set("micros", new Long[] {micros, micros});
            Function<Side, Params> names = side -> Params.none()
                    .set("types", types())
                    .set("ids", ids())
                    .set("lockIds", new String[] {"", ""})
                    .set("micros", new Long[] {0L, 0L});
            String about = " of " + name + " by " + owner + (mine ? " with the row's secret" : " with " + secret);
            return List.of(
                    new Op("insert free", sql -> sql.insertFree, names, Kind.COUNT),
                    new Op("take" + about, sql -> sql.take, claim, Kind.NUMBER),
                    new Op("upsert" + about + " again " + again, sql -> sql.upsert, claim, Kind.UPSERTED),
                    new Op(
                            "reenter" + about,
                            sql -> sql.reenter,
                            side -> claim.apply(side).set("again", owner),
                            Kind.NUMBER),
                    new Op(
                            "hand over" + about,
                            sql -> sql.handOver,
                            side -> claim.apply(side).set("from", held.apply(side)),
                            Kind.NUMBER),
                    new Op(
                            "take over" + about,
                            sql -> sql.takeOver,
                            side -> claim.apply(side).set("seen", side.row(name).fence()),
                            Kind.NUMBER),
                    new Op("release" + about, sql -> sql.release, of, Kind.NUMBER),
                    new Op("release with the caller" + about, sql -> sql.releaseWithCaller, of, Kind.NUMBER),
                    new Op("release at" + about, sql -> sql.releaseAt, of, Kind.NUMBER),
                    new Op("renew" + about, sql -> sql.renew, of, Kind.NUMBER),
                    new Op("extend" + about, sql -> sql.extend, of, Kind.NUMBER),
                    new Op("leave" + about, sql -> sql.leave, of, Kind.NUMBER),
                    new Op("settle" + about, sql -> sql.settle, fenced, Kind.NUMBER),
                    new Op("force" + about, sql -> sql.force, fenced, Kind.NUMBER),
                    new Op("force unsettled" + about, sql -> sql.forceUnsettled, fenced, Kind.NUMBER),
                    new Op("mark wanted" + about, sql -> sql.markWanted, of, Kind.NUMBER),
                    new Op("probe" + about, sql -> sql.probe, of, Kind.NUMBER),
                    new Op("renew both", sql -> sql.renewListed, both, Kind.COUNT),
                    new Op("release both", sql -> sql.releaseListed, both, Kind.COUNT),
                    new Op("read" + about, sql -> sql.read, of, Kind.ROWS),
                    new Op("read both", sql -> sql.readListed, names, Kind.ROWS),
                    new Op("check" + about, sql -> sql.check, of, Kind.ROWS),
                    new Op("guard" + about, sql -> sql.guard, of, Kind.ROWS),
                    new Op(
                            "take both" + about,
                            sql -> sql.takeAll(2),
                            side -> {
                                Params params = claim.apply(side);
                                names.apply(side).values.forEach(params::set);
                                return params;
                            },
                            Kind.NUMBER));
        }

        private static String[] types() {
            return NAMES.stream().map(LockName::type).toArray(String[]::new);
        }

        private static String[] ids() {
            return NAMES.stream().map(LockName::id).toArray(String[]::new);
        }
    }

    private static Ask<?> ask(Op op, Sql sql, Params params) {
        return switch (op.kind) {
            case NUMBER -> Ask.number(sql, params);
            case COUNT -> Ask.count(sql, params);
            case ROWS -> Ask.rows(sql, params, LockRow::read);
            case UPSERTED ->
                Ask.rows(sql, params, row -> new LockStore.Upserted(LockRow.read(row), row.getInt("changed") == 1));
        };
    }

    private static boolean alike(Object server, Object simulation) {
        if (server instanceof OptionalLong one && simulation instanceof OptionalLong other) {
            return one.isPresent() == other.isPresent()
                    && (one.isEmpty()
                            || (one.getAsLong() & 7) == (other.getAsLong() & 7)
                                    && about(one.getAsLong() >> 3, other.getAsLong() >> 3));
        }
        if (server instanceof List<?> all && simulation instanceof List<?> others) {
            List<?> some = whatCounts(all);
            boolean same = some.size() == others.size();
            for (int i = 0; same && i < some.size(); i++) {
                same = alike(some.get(i), others.get(i));
            }
            return same;
        }
        if (server instanceof LockStore.Upserted one && simulation instanceof LockStore.Upserted other) {
            return one.changed() == other.changed() && alike(one.row(), other.row());
        }
        if (server instanceof LockRow one && simulation instanceof LockRow other) {
            return one.name().equals(other.name())
                    && Objects.equals(one.lockId(), other.lockId())
                    && Objects.equals(one.owner(), other.owner())
                    && one.reserved() == other.reserved()
                    && one.wanted() == other.wanted()
                    && Objects.equals(one.takenFrom(), other.takenFrom())
                    && Objects.equals(one.forced(), other.forced())
                    && about(one.fence(), other.fence())
                    && about(one.acquiredAt(), other.acquiredAt())
                    && about(one.expiresAt(), other.expiresAt());
        }
        return server.equals(simulation);
    }

    /** Next to a row that was changed, H2 answers with the row as it was, which nobody looks at. */
    private static List<?> whatCounts(List<?> rows) {
        boolean changed = rows.stream().anyMatch(each -> each instanceof LockStore.Upserted row && row.changed());
        return rows.stream()
                .filter(each -> !changed || each instanceof LockStore.Upserted row && row.changed())
                .toList();
    }

    private static boolean about(long one, long other) {
        return Math.abs(one - other) < ABOUT;
    }
}
