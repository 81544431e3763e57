// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.contestants.Contestant;
import io.bitjang.benchmarks.places.Place;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One thread, acquire and release, while the table has few rows and while it has many. */
final class Growth implements Scenario {

    private static final int FEW = 1_000;
    private static final int DOUBLINGS = 10;

    @Override
    public String id() {
        return "S7";
    }

    @Override
    public String title() {
        return "one thread, while the table grows";
    }

    private record Table(Course.Turn turn, String who, HikariDataSource pool, Locks locks, Arena arena) {}

    @Override
    public void run(Course course) throws Exception {
        List<Table> tables = new ArrayList<>();
        try {
            for (Course.Turn turn : course.turns(turn -> turn.entry().name().equals(Catalogue.LEASE))) {
                for (int doublings : new int[] {0, course.brief() ? 1 : DOUBLINGS}) {
                    tables.add(open(course, turn, doublings));
                }
            }
            for (Table table : tables) {
                go(course, table);
            }
            for (int round = 1; round <= course.rounds(); round++) {
                for (Table table : Course.rotated(tables, round)) {
                    Outcome outcome = go(course, table);
                    Place place = table.turn.place();
                    course.record(id(), place, table.who, round, "cycles/s", outcome.perSecond());
                    course.record(id(), place, table.who, round, "p50 ms", outcome.millisAt(0.5));
                    course.say(String.format(
                            Locale.ROOT,
                            "S7 round %d of %d: %s %s: %,.0f/s",
                            round,
                            course.rounds(),
                            place.name(),
                            table.who,
                            outcome.perSecond()));
                }
            }
        } finally {
            for (Table table : tables) {
                table.locks.close();
                table.pool.close();
            }
        }
    }

    private static Outcome go(Course course, Table table) throws Exception {
        return table.arena.run(1, i -> "row-500", i -> 0, course.time());
    }

    private Table open(Course course, Course.Turn turn, int doublings) throws Exception {
        int rows = FEW << doublings;
        String prefix = "s7_" + rows + "_";
        String who = String.format(Locale.ROOT, "%s, %,d rows", turn.entry().name(), rows);
        course.say("S7: filling " + turn.place().name() + " with " + rows + " rows");
        HikariDataSource pool = turn.place().pool();
        Locks locks = Locks.builder(pool).tablePrefix(prefix).build();
        fill(turn.place(), prefix + "locks", doublings);
        Contestant contestant = name -> Contestant.Section.of(locks.lease(name).asLock());
        return new Table(turn, who, pool, locks, new Arena(contestant, null));
    }

    private static void fill(Place place, String table, int doublings) throws Exception {
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.executeUpdate("DELETE FROM " + table);
            for (int i = 0; i < FEW; i++) {
                statement.addBatch("INSERT INTO " + table + " (type, id, fence, expires_at) VALUES ('lock', 'row-" + i
                        + "', 1, 1)");
            }
            statement.executeBatch();
            for (int i = 0; i < doublings; i++) {
                statement.executeUpdate("INSERT INTO " + table
                        + " (type, id, fence, expires_at) SELECT type, CONCAT(id, '-" + i + "'), 1, 1 FROM " + table);
                connection.commit();
            }
            connection.commit();
        }
    }
}
