// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers that the JVMs of a build share: one at a time, emptied, and gone with the build. */
@Timeout(400)
class SharedServersTest {

    private static final Duration START = Duration.ofSeconds(180);

    private Process build;

    @BeforeEach
    void begin() throws IOException {
        build = new ProcessBuilder("sleep", "600").start();
    }

    @AfterEach
    void end() {
        build.destroyForcibly();
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void next_jvm_takes_the_server_over_with_an_empty_database_and_it_ends_with_the_build(String name)
            throws Exception {
        String first;
        try (ChildJvm jvm = user(name)) {
            first = jvm.readLine(START);
            jvm.send("create");
            assertThat(jvm.readLine(START)).isEqualTo("created");
            jvm.send("restart");
            assertThat(jvm.readLine(START)).isEqualTo("restarted");
            jvm.send("exit");
            assertThat(jvm.waitFor(START)).isZero();
        }
        try (ChildJvm jvm = user(name)) {
            assertThat(jvm.readLine(START)).isEqualTo(first);
            jvm.send("create");
            assertThat(jvm.readLine(START)).isEqualTo("created");
            jvm.send("exit");
            assertThat(jvm.waitFor(START)).isZero();
        }
        Path folder = folderOf(first);
        int port = Integer.parseInt(first.split(" ")[0]);
        assertThat(folder).isNotEmptyDirectory();
        assertThat(WatchdogTest.listens(port)).isTrue();

        build.destroyForcibly();

        assertThat(Eventually.holds(Duration.ofSeconds(60), () -> !WatchdogTest.listens(port) && !Files.exists(folder)))
                .isTrue();
    }

    @Test
    void jvms_side_by_side_have_a_server_each() throws Exception {
        try (ChildJvm one = user("h2-server");
                ChildJvm other = user("h2-server")) {
            assertThat(one.readLine(START)).isNotEqualTo(other.readLine(START));
        }
    }

    @Test
    void server_of_a_jvm_that_was_killed_is_replaced() throws Exception {
        String first;
        OsProcess server;
        try (ChildJvm jvm = user("h2-server")) {
            first = jvm.readLine(START);
            server = serverIn(folderOf(first));
            jvm.kill9();
        }
        try (ChildJvm jvm = user("h2-server")) {
            assertThat(jvm.readLine(START)).isNotEqualTo(first).endsWith(" " + folderOf(first));
            assertThat(server.isAlive()).isFalse();
        }
    }

    @Test
    void server_that_never_got_ready_is_replaced() throws Exception {
        String first;
        OsProcess server;
        try (ChildJvm jvm = user("h2-server")) {
            first = jvm.readLine(START);
            server = serverIn(folderOf(first));
            jvm.kill9();
        }
        Files.delete(folderOf(first).resolve("port"));
        try (ChildJvm jvm = user("h2-server")) {
            assertThat(jvm.readLine(START)).endsWith(" " + folderOf(first));
            assertThat(server.isAlive()).isFalse();
        }
    }

    @Test
    void server_that_was_left_dead_is_replaced() throws Exception {
        Path folder;
        try (ChildJvm jvm = user("h2-server")) {
            folder = folderOf(jvm.readLine(START));
            jvm.send("exit");
            assertThat(jvm.waitFor(START)).isZero();
        }
        ProcessHandle.of(serverIn(folder).pid()).orElseThrow().destroyForcibly();
        try (ChildJvm jvm = user("h2-server")) {
            assertThat(jvm.readLine(START)).endsWith(" " + folder);
            jvm.send("create");
            assertThat(jvm.readLine(START)).isEqualTo("created");
        }
    }

    @Test
    void server_that_was_left_without_an_answer_is_replaced() throws Exception {
        String first;
        try (ChildJvm jvm = user("h2-server")) {
            first = jvm.readLine(START);
            jvm.send("exit");
            assertThat(jvm.waitFor(START)).isZero();
        }
        OsProcess server = serverIn(folderOf(first));
        Shell.require(List.of("kill", "-STOP", Long.toString(server.pid())), "");
        try (ChildJvm jvm = user("h2-server")) {
            assertThat(jvm.readLine(START)).isNotEqualTo(first).endsWith(" " + folderOf(first));
            assertThat(server.isAlive()).isFalse();
        }
    }

    @Test
    void remains_of_a_build_that_has_ended_are_swept() throws Exception {
        String namespace =
                Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", "");
        Path runs = Settings.cache().resolve("run");
        Path remains = runs.resolve("build-" + namespace + "-" + new OsProcess(build.pid(), 1));
        Path ofAnotherContainer = runs.resolve("build-1-" + new OsProcess(build.pid(), 1));
        Path ofSomeoneElse = runs.resolve("build-notes-of-" + build.pid()); // another build may run this test, too
        Files.createDirectories(remains.resolve("h2-1"));
        Files.createDirectories(ofAnotherContainer);
        Files.createDirectories(ofSomeoneElse);
        try (ChildJvm jvm = user("h2-server")) {
            jvm.readLine(START);
            assertThat(remains).doesNotExist();
            assertThat(ofAnotherContainer).exists();
            assertThat(ofSomeoneElse).exists();
        } finally {
            Files.delete(ofAnotherContainer);
            Files.delete(ofSomeoneElse);
        }
    }

    private ChildJvm user(String name) {
        ChildJvm.Builder builder = ChildJvm.of(User.class).args(name);
        System.getProperties().stringPropertyNames().stream()
                .filter(key -> key.startsWith("bitjang.testkit."))
                .forEach(key -> builder.property(key, System.getProperty(key)));
        return builder.property("bitjang.testkit.shared", Long.toString(build.pid()))
                .start();
    }

    private static Path folderOf(String line) {
        return Path.of(line.split(" ")[1]);
    }

    private static OsProcess serverIn(Path folder) throws IOException {
        return OsProcess.parse(Files.readString(folder.resolve("pid")).strip()).orElseThrow();
    }

    /** A JVM of the build. */
    static final class User {
        public static void main(String[] args) throws SQLException, IOException {
            TestDatabase database = TestDatabases.byName(args[0]);
            System.out.println(database.port() + " " + Running.folders().get(0));
            try (var lines = new java.util.Scanner(System.in, java.nio.charset.StandardCharsets.UTF_8)) {
                while (lines.hasNextLine()) {
                    switch (lines.nextLine()) {
                        case "create" -> {
                            database.execute("CREATE TABLE of_one_jvm (id int)");
                            System.out.println("created");
                        }
                        case "restart" -> {
                            database.restart();
                            System.out.println("restarted");
                        }
                        default -> System.exit(0);
                    }
                }
            }
        }
    }
}
