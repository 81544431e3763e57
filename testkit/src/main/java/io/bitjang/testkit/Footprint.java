// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What this JVM keeps alive at one moment: sessions, pools and threads. */
record Footprint(Map<TestDatabase, Use> databases, Set<Thread> threads) {

    private static final String THREADS = "bitjang-";

    /**
     * The use of one database.
     *
     * @param sessions all sessions of this JVM, pooled or not
     * @param pools the pools that are open, with the number of their connections in use
     * @param pooled the number of connections of each pool
     */
    record Use(
            List<Sessions.Session> sessions,
            Map<HikariDataSource, Integer> pools,
            Map<HikariDataSource, Integer> pooled) {

        static final Use NONE = new Use(List.of(), Map.of(), Map.of());

        /** Sessions that belong to none of the given pools. */
        int outside(Set<HikariDataSource> known) {
            return sessions.size()
                    - pooled.entrySet().stream()
                            .filter(entry -> known.contains(entry.getKey()))
                            .mapToInt(Map.Entry::getValue)
                            .sum();
        }

        /** Sessions that were not there before: one that ended meanwhile, a little late, does not make up for one that leaks. */
        int opened(Use before) {
            Set<Long> ids = before.sessions.stream().map(Sessions.Session::id).collect(Collectors.toSet());
            return (int) sessions.stream()
                    .filter(session -> !ids.contains(session.id()))
                    .count();
        }
    }

    static Footprint now(Iterable<SessionMonitor> monitors) throws SQLException {
        return take(monitors, true);
    }

    private static Footprint take(Iterable<SessionMonitor> monitors, boolean afresh) throws SQLException {
        Map<TestDatabase, Use> uses = new LinkedHashMap<>();
        for (SessionMonitor monitor : monitors) {
            uses.put(monitor.database(), use(monitor, afresh));
        }
        return new Footprint(uses, ownThreads());
    }

    /** Without their stacks, for which the JVM would have to stop all of them. */
    private static Set<Thread> ownThreads() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] found = new Thread[all.activeCount() * 2 + 100];
        int count = all.enumerate(found);
        return Arrays.stream(found, 0, count)
                .filter(thread -> thread.isAlive() && thread.getName().startsWith(THREADS))
                .collect(Collectors.toSet());
    }

    private static Use use(SessionMonitor monitor, boolean afresh) throws SQLException {
        Map<HikariDataSource, Integer> active = new LinkedHashMap<>();
        Map<HikariDataSource, Integer> pooled = new LinkedHashMap<>();
        for (HikariDataSource pool : Pools.open(monitor.database())) {
            active.put(pool, pool.getHikariPoolMXBean().getActiveConnections());
            pooled.put(pool, pool.getHikariPoolMXBean().getTotalConnections());
        }
        return new Use(monitor.ours(afresh), active, pooled);
    }

    /** Pools fill themselves in the background: the numbers count when each pool has as many connections as it wants. */
    static Footprint settled(Iterable<SessionMonitor> monitors, Duration patience)
            throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        Footprint footprint = take(monitors, false);
        while (footprint.isFilling() && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(5);
            footprint = take(monitors, false);
        }
        return footprint;
    }

    private boolean isFilling() {
        return databases.values().stream()
                .flatMap(use -> use.pooled().entrySet().stream())
                .anyMatch(entry -> entry.getValue() < entry.getKey().getMinimumIdle());
    }

    /** What is here and was not there before, in words. */
    List<String> beyond(Footprint before) {
        List<String> leaks = new ArrayList<>();
        databases.forEach((database, use) ->
                compare(database.name(), before.databases().getOrDefault(database, Use.NONE), use, leaks));
        threads.stream()
                .filter(thread -> !before.threads().contains(thread))
                .forEach(thread -> leaks.add("thread " + thread.getName()));
        return leaks;
    }

    private static void compare(String name, Use before, Use now, List<String> leaks) {
        Set<HikariDataSource> known = before.pools().keySet();
        int more = Math.max(now.outside(known) - before.outside(known), known.isEmpty() ? now.opened(before) : 0);
        if (more > 0) {
            leaks.add(more + " open connection(s) to " + name + ", among " + now.sessions());
        }
        now.pools().forEach((pool, active) -> {
            if (!known.contains(pool)) {
                leaks.add("the open pool " + pool.getPoolName());
            } else if (active > before.pools().getOrDefault(pool, 0)) {
                leaks.add(active + " connection(s) not given back to the pool " + pool.getPoolName());
            }
        });
        Set<Long> inTransactionBefore = before.sessions().stream()
                .filter(Sessions.Session::inTransaction)
                .map(Sessions.Session::id)
                .collect(Collectors.toSet());
        now.sessions().stream()
                .filter(session -> session.inTransaction() && !inTransactionBefore.contains(session.id()))
                .forEach(session -> leaks.add("an open transaction on " + name + ": " + session));
    }
}
