// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.testkit.CountingDataSource;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What many locks cost while they are held: connections, statements, memory, threads. Where each has a connection, it is left out. */
final class Held implements Scenario {

    private static final int TAKERS = 16;

    @Override
    public String id() {
        return "S6";
    }

    @Override
    public String title() {
        return "many locks held by one process";
    }

    /** Takes one lock. */
    private interface Take {
        AutoCloseable named(String name);
    }

    @Override
    public void run(Course course) throws Exception {
        for (int many : course.brief() ? new int[] {100} : new int[] {1_000, 10_000}) {
            for (Course.Turn turn : course.turns(turn -> turn.entry().name().equals(Catalogue.LEASE)
                    || turn.entry().name().equals(Catalogue.SESSION)
                            && !turn.place().isH2())) {
                hold(course, turn, many);
            }
        }
    }

    private void hold(Course course, Course.Turn turn, int many) throws Exception {
        try (HikariDataSource pool = turn.place().pool()) {
            CountingDataSource counted = new CountingDataSource(pool);
            try (Locks locks = Locks.create(counted)) {
                Take take = turn.entry().name().equals(Catalogue.LEASE)
                        ? name -> locks.lease(name).acquire(Wait.none())
                        : name -> locks.session(name).acquire(Wait.none());
                int threads = ManagementFactory.getThreadMXBean().getThreadCount();
                long memory = memory();
                List<AutoCloseable> held = take(take, many);
                counted.reset();
                long began = System.nanoTime();
                int mostConnections = 0;
                while (System.nanoTime() - began < TimeUnit.SECONDS.toNanos(course.brief() ? 2 : 30)) {
                    mostConnections = Math.max(mostConnections, counted.open());
                    TimeUnit.MILLISECONDS.sleep(5);
                }
                double perSecond = counted.statements().size() * 1e9 / (System.nanoTime() - began);
                counted.reset();
                String who =
                        String.format(Locale.ROOT, "%s, %,d held", turn.entry().name(), many);
                course.record(id(), turn.place(), who, 1, "statements/s", perSecond);
                course.record(id(), turn.place(), who, 1, "connections", mostConnections);
                course.record(
                        id(),
                        turn.place(),
                        who,
                        1,
                        "threads",
                        Math.max(0, ManagementFactory.getThreadMXBean().getThreadCount() - threads));
                course.record(id(), turn.place(), who, 1, "bytes a lock", (double) (memory() - memory) / many);
                course.say(String.format(
                        Locale.ROOT,
                        "S6: %s %s: %.1f statements/s, %d connections",
                        turn.place().name(),
                        who,
                        perSecond,
                        mostConnections));
                for (AutoCloseable each : held) {
                    each.close();
                }
            }
        }
    }

    /** With several threads, because each may wait for a disk. */
    private static List<AutoCloseable> take(Take take, int many) throws Exception {
        String run = UUID.randomUUID().toString().substring(0, 8);
        ExecutorService takers = Executors.newFixedThreadPool(TAKERS);
        try {
            List<Future<AutoCloseable>> taken = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                String name = "S6-" + run + "-" + i;
                taken.add(takers.submit(() -> take.named(name)));
            }
            List<AutoCloseable> held = new ArrayList<>();
            for (Future<AutoCloseable> each : taken) {
                held.add(each.get());
            }
            return held;
        } finally {
            takers.shutdown();
            takers.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    private static long memory() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
