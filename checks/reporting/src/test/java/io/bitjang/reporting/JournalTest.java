// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** What a JVM of the tests writes down. */
class JournalTest {

    @TempDir
    Path root;

    @Test
    void every_test_is_noted_with_its_database_outcome_and_reason() throws IOException {
        run(Example.class);
        assertThat(lines("test")).extracting(line -> line.split("\t")).anySatisfy(fields -> {
            assertThat(fields[2]).isEqualTo("mysql");
            assertThat(fields[3]).isEqualTo("passed");
            assertThat(fields[6]).isEqualTo("runs_on_databases [2] database = \"mysql\"");
        });
        assertThat(lines("test"))
                .hasSize(6)
                .anyMatch(line ->
                        line.matches("test\t.*\tnone\tfailed\t\\d+\t.*Example\tfails\t.*: first line second line"))
                .anyMatch(
                        line -> line.matches("test\t.*\tnone\tskipped\t\\d+\t.*Example\tis_left_out\t.*: no browser"));
    }

    @Test
    void test_that_fails_leaves_its_error_the_events_of_the_locks_and_the_threads() throws IOException {
        run(Example.class);
        assertThat(failure("fails"))
                .contains("first line", "second line", "JournalTest.java", "order/42 LOST", "\"main\"")
                .contains("== The last lines of the servers");
    }

    @Test
    void test_that_hangs_leaves_what_its_threads_did_meanwhile() throws IOException {
        run(Example.class);
        assertThat(failure("hangs")).contains("took too long", "JournalTest$Example.hangs(JournalTest.java");
    }

    @Test
    void nothing_is_noted_when_nobody_asks() {
        new Journal(null).testPlanExecutionStarted(null);
        assertThat(root).isEmptyDirectory();
    }

    private void run(Class<?> type) {
        String build = System.setProperty("bitjang.build", root.resolve("build").toString());
        try {
            execute(type);
        } finally {
            if (build == null) {
                System.clearProperty("bitjang.build");
            } else {
                System.setProperty("bitjang.build", build);
            }
        }
    }

    private void execute(Class<?> type) {
        LauncherFactory.create(LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .addTestExecutionListeners(
                                new Journal(root.resolve("build").toString()))
                        .build())
                .execute(LauncherDiscoveryRequestBuilder.request()
                        .selectors(DiscoverySelectors.selectClass(type))
                        .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                        .build());
    }

    private List<String> lines(String kind) throws IOException {
        try (Stream<Path> files = Files.list(root.resolve("build/journal"))) {
            return Files.readAllLines(files.filter(file -> file.toString().endsWith(".tsv"))
                            .findFirst()
                            .orElseThrow())
                    .stream()
                    .filter(line -> line.startsWith(kind + "\t"))
                    .toList();
        }
    }

    private String failure(String test) throws IOException {
        try (Stream<Path> files = Files.list(root.resolve("failures"))) {
            return Files.readString(files.filter(file -> file.toString().contains("." + test))
                    .findFirst()
                    .orElseThrow());
        }
    }

    /** Its name does not end with Test, so the build does not run it. */
    static final class Example {

        static Stream<String> databases() {
            return Stream.of("h2", "mysql", "h2-server");
        }

        @ParameterizedTest
        @MethodSource("databases")
        void runs_on_databases(String database) {
            assertThat(database).isNotEmpty();
        }

        @Test
        void fails() {
            Logger.getLogger("io.bitjang.events").fine("order/42 LOST");
            throw new AssertionError("first line\nsecond line");
        }

        @Test
        void is_left_out() {
            assumeTrue(false, "no browser");
        }

        @Test
        @Timeout(2) // so that it sleeps by then on a busy machine, too
        void hangs() throws InterruptedException {
            TimeUnit.SECONDS.sleep(30);
        }
    }
}
