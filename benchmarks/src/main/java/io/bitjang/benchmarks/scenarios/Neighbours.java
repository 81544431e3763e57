// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.contestants.Contestant;
import io.bitjang.benchmarks.places.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** 16 threads lock, a name each, while the application works on the same database: what do its transactions lose? */
final class Neighbours implements Scenario {

    private static final int LOCKERS = 16;
    private static final int WORKERS = 4;
    private static final int ACCOUNTS = 1_000;
    private static final String TABLE = "bench_account";

    @Override
    public String id() {
        return "S8";
    }

    @Override
    public String title() {
        return "business transactions while 16 threads lock";
    }

    private record Locker(Course.Turn turn, Contestant contestant) {}

    @Override
    public void run(Course course) throws Exception {
        List<Locker> lockers = new ArrayList<>();
        List<Place> places = new ArrayList<>();
        try {
            for (Course.Turn turn : course.turns(turn -> turn.place().kind() == Place.Kind.DATABASE)) {
                if (!places.contains(turn.place())) {
                    places.add(turn.place());
                    fill(turn.place());
                }
                if (turn.entry().role() != Catalogue.Role.FLOOR) {
                    lockers.add(new Locker(turn, turn.entry().open(turn.place())));
                }
            }
            for (Place place : places) {
                // warm
                transactions(course, place, null);
            }
            for (int round = 1; round <= course.rounds(); round++) {
                for (Place place : places) {
                    record(course, place, Catalogue.NOBODY, round, transactions(course, place, null));
                }
                for (Locker locker : Course.rotated(lockers, round)) {
                    double perSecond = transactions(course, locker.turn.place(), locker);
                    record(course, locker.turn.place(), locker.turn.entry().name(), round, perSecond);
                }
            }
        } finally {
            for (Locker locker : lockers) {
                locker.contestant.close();
            }
        }
    }

    private void record(Course course, Place place, String who, int round, double perSecond) {
        course.record(id(), place, who, round, "transactions/s", perSecond);
        course.say(String.format(
                Locale.ROOT,
                "S8 round %d of %d: %-11s %-24s %,.0f transactions/s",
                round,
                course.rounds(),
                place.name(),
                who,
                perSecond));
    }

    private double transactions(Course course, Place place, @Nullable Locker locker) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong done = new AtomicLong();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            Thread worker = new Thread(() -> work(course, place, stop, done));
            workers.add(worker);
            worker.start();
        }
        long began = System.nanoTime();
        if (locker == null) {
            Thread.sleep(course.time().toMillis());
        } else {
            Outcome outcome = new Arena(locker.contestant, null)
                    .run(LOCKERS, i -> "S8-" + locker.turn.entry().name().hashCode() + "-" + i, i -> i, course.time());
            course.record(id(), locker.turn, 0, "lock cycles/s", outcome.perSecond());
        }
        double perSecond = done.get() * 1e9 / (System.nanoTime() - began);
        stop.set(true);
        for (Thread worker : workers) {
            worker.join();
        }
        return perSecond;
    }

    private static void work(Course course, Place place, AtomicBoolean stop, AtomicLong done) {
        try (Connection connection = place.connect();
                PreparedStatement update =
                        connection.prepareStatement("UPDATE " + TABLE + " SET balance = balance + 1 WHERE id = ?")) {
            connection.setAutoCommit(false);
            while (!stop.get()) {
                for (int i = 0; i < 2; i++) {
                    // in order, so that two never wait for each other
                    update.setInt(
                            1, i * ACCOUNTS / 2 + ThreadLocalRandom.current().nextInt(ACCOUNTS / 2));
                    update.executeUpdate();
                }
                connection.commit();
                done.incrementAndGet();
            }
        } catch (SQLException e) {
            course.complain("S8, " + place.name() + ": the business load failed: " + e.getMessage());
        }
    }

    private static void fill(Place place) throws SQLException {
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS " + TABLE + " (id INT PRIMARY KEY, balance INT NOT NULL)");
            connection.setAutoCommit(false);
            statement.executeUpdate("DELETE FROM " + TABLE);
            for (int i = 0; i < ACCOUNTS; i++) {
                statement.addBatch("INSERT INTO " + TABLE + " VALUES (" + i + ", 0)");
            }
            statement.executeBatch();
            connection.commit();
        }
    }
}
