// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.load;

import io.bitjang.Locks;
import io.bitjang.contracts.load.Contender.Mode;
import io.bitjang.testkit.ChildJvm;
import io.bitjang.testkit.LeakCheck;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three processes of 16 threads each compete. In the ordinary build for some hundred grants a time; with {@code bitjang.soak=true}
 * for 100,000.
 */
@ExtendWith(LeakCheck.class)
@Timeout(value = 2, unit = TimeUnit.HOURS)
class MutualExclusionTest {

    private static final boolean SOAK = Boolean.getBoolean("bitjang.soak");
    private static final int JVMS = 3;
    private static final int THREADS = 16;
    /** A little more than what is looked for in the end: meanwhile the others go on. */
    private static final int ENOUGH_PERCENT = 5;

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration RUN = SOAK ? Duration.ofHours(1) : Duration.ofMinutes(2);

    /** The processes of each database, for one test after the other. */
    private static final Map<String, List<ChildJvm>> CHILDREN = new TreeMap<>();

    @TempDir
    Path folder;

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void one_lease_has_one_holder_at_a_time(String database) throws Exception {
        compete(database, Mode.LEASE, 1, SOAK ? 100_000 : 500);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void one_lease_that_nobody_sees_has_one_holder_at_a_time(String database) throws Exception {
        compete(database, Mode.UNSEEN_LEASE, 1, SOAK ? 100_000 : 500);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void one_session_lock_has_one_holder_at_a_time(String database) throws Exception {
        compete(database, Mode.SESSION, 1, SOAK ? 100_000 : 500);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void ten_session_locks_have_one_holder_each_at_a_time(String database) throws Exception {
        // on H2 each takes a connection of the pool while it is held or waited for
        compete(database, Mode.SESSION, database.startsWith("h2") ? 3 : 10, SOAK ? 100_000 : 500);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void ten_leases_have_one_holder_each_at_a_time(String database) throws Exception {
        compete(database, Mode.LEASE, 10, SOAK ? 100_000 : 500);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void two_of_ten_leases_taken_together_have_one_holder_each_at_a_time(String database) throws Exception {
        compete(database, Mode.LEASE_ALL, 10, SOAK ? 20_000 : 200);
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.contracts.Servers#selected")
    void offline_locks_taken_by_trying_again_have_one_holder_each_at_a_time(String database) throws Exception {
        compete(database, Mode.OFFLINE, 2, SOAK ? 20_000 : 100);
    }

    private void compete(String databaseName, Mode mode, int names, int grants) throws Exception {
        boolean queued = mode == Mode.LEASE;
        TestDatabase database = TestDatabases.byName(databaseName);
        String suffix = UUID.randomUUID().toString().substring(0, 8);
        String table = "fuzz_" + suffix;
        List<String> locks =
                IntStream.range(0, names).mapToObj(i -> "n" + i + "-" + suffix).toList();
        Locks.create(database.dataSource()).close();
        database.execute("CREATE TABLE " + table + " (name varchar(40) PRIMARY KEY, total int NOT NULL)");
        for (String name : locks) {
            database.execute("INSERT INTO " + table + " VALUES ('" + name + "', 0)");
        }
        List<ChildJvm> children = CHILDREN.computeIfAbsent(databaseName, MutualExclusionTest::start);
        boolean well = false;
        try {
            for (int jvm = 0; jvm < JVMS; jvm++) {
                children.get(jvm)
                        .send(String.join(
                                " ",
                                "prepare",
                                mode.name(),
                                String.join(",", locks),
                                table,
                                file(jvm).toString()));
            }
            children.forEach(child -> child.readLineStartingWith("ready", START));
            long began = System.nanoTime();
            children.forEach(child -> child.send("go"));
            awaitGrants(children, grants, queued);
            double seconds = (System.nanoTime() - began) / 1e9;
            children.forEach(child -> child.send("stop"));
            children.forEach(child -> child.readLineStartingWith("written", RUN));
            History history = new History();
            for (int jvm = 0; jvm < JVMS; jvm++) {
                Files.readAllLines(file(jvm)).forEach(history::add);
            }
            history.check(totals(database, table));
            System.out.printf(
                    Locale.ROOT,
                    "%s, %s of %d: %s; %.0f grants a second%n",
                    databaseName,
                    mode,
                    names,
                    history.shares(JVMS, THREADS, queued),
                    grants / seconds);
            well = true;
        } finally {
            if (!well) {
                end(CHILDREN.remove(databaseName));
            }
            database.execute("DROP TABLE " + table);
        }
    }

    private static List<ChildJvm> start(String databaseName) {
        TestDatabase database = TestDatabases.byName(databaseName);
        List<ChildJvm> children = new ArrayList<>();
        for (int jvm = 0; jvm < JVMS; jvm++) {
            children.add(ChildJvm.of(Contender.class)
                    .args(
                            database.jdbcUrl(),
                            database.user(),
                            database.password(),
                            Integer.toString(jvm),
                            Integer.toString(THREADS))
                    .start());
        }
        return children;
    }

    private static void end(List<ChildJvm> children) {
        children.forEach(ChildJvm::close);
    }

    @AfterAll
    static void endAll() {
        CHILDREN.values().forEach(MutualExclusionTest::end);
        CHILDREN.clear();
    }

    private Path file(int jvm) {
        return folder.resolve("history-" + jvm);
    }

    /**
     * Each child says now and then how many grants it has had, and how many the thread that got least. Where everybody who
     * queues gets a share, they go on until it shows: a process may have stood still for longer than some hundred grants take.
     */
    private static void awaitGrants(List<ChildJvm> children, int grants, boolean queued) {
        long deadline = System.nanoTime() + RUN.toNanos();
        long sum = 0;
        boolean shared = !queued;
        List<String> said = List.of();
        while (sum < grants || !shared) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("No more than these of " + grants + " within " + RUN + ": " + said);
            }
            said = children.stream()
                    .map(child -> child.readLineStartingWith("grants", START))
                    .toList();
            LongSummaryStatistics each = said.stream()
                    .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
                    .summaryStatistics();
            sum = each.getSum();
            shared = !queued
                    || each.getMin() * 100 >= sum * ENOUGH_PERCENT
                            && said.stream().noneMatch(line -> line.endsWith(" 0"));
        }
    }

    private static Map<String, Integer> totals(TestDatabase database, String table) throws SQLException {
        Map<String, Integer> totals = new TreeMap<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT name, total FROM " + table)) {
            while (rows.next()) {
                totals.put(rows.getString(1), rows.getInt(2));
            }
        }
        return totals;
    }
}
