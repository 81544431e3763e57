// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The face of the build, as a process of its own, over a script in place of Maven. */
@Timeout(60)
class BuildTest {

    private static final String MODULES = """
            echo '[INFO] Building Bitjang Core 0.1.0-SNAPSHOT                               [1/2]'
            echo '[INFO] chatter'
            echo '[INFO] Building Bitjang JPA 0.1.0-SNAPSHOT                                [2/2]'
            """;

    @TempDir
    Path root;

    private Path build;

    private record Told(int exitCode, String text) {}

    @Test
    void modules_tests_and_reasons_are_told_and_the_chatter_is_kept() throws Exception {
        Told told = told(MODULES + test("mysql", "passed", "") + test("mysql", "skipped", "no MySQL here")
                + "echo '[INFO] Bitjang Core ............. SUCCESS [ 12.345 s]'\n"
                + "echo '[INFO] Bitjang JPA 0.1.0-SNAPSHOT . SUCCESS [02:30 min]'\n"
                + "echo '[INFO] BUILD SUCCESS'\n");
        assertThat(told.exitCode()).isZero();
        assertThat(told.text())
                .contains("[  1/2] Core", "[  2/2] JPA")
                .containsPattern("Core +12 +0 +0 +0\n")
                .containsPattern("JPA +150 +0 +0 +2\n")
                .contains("MySQL: 1 passed, 1 skipped", "SKIPPED 1: no MySQL here", "CPU servers", "slowest classes")
                .doesNotContain("chatter");
        assertThat(root.resolve("target/build/maven.log")).content().contains("chatter");
    }

    @Test
    void red_test_is_named_with_its_message_and_where_the_rest_is() throws Exception {
        Told told = told(MODULES + test("h2", "failed", "expected 1 but was 2") + "exit 1\n");
        assertThat(told.exitCode()).isEqualTo(1);
        assertThat(told.text())
                .contains("io.bitjang.ATest a_promise", "expected 1 but was 2", "target/failures", "FAILED");
    }

    @Test
    void what_maven_complains_of_is_shown_beside_red_tests() throws Exception {
        Told told = told(MODULES + test("h2", "failed", "expected 1 but was 2") + """
                echo '[ERROR] COMPILATION ERROR : '
                echo '[ERROR] A.java:[3,4] not a statement'
                exit 3
                """);
        assertThat(told.exitCode()).isEqualTo(3);
        assertThat(told.text()).contains("[ERROR] A.java:[3,4] not a statement", "expected 1 but was 2");
    }

    @Test
    void now_and_then_one_reads_how_far_it_is_and_what_is_downloaded() throws Exception {
        Told told = told(MODULES
                + "echo '[INFO] Downloaded from central: repo/a/b/1/b-1.jar (12 MB at 3 MB/s)'\n"
                + "printf 'total\\tBitjang JPA\\tmysql\\t40\\n' >>\"$journal/a.tsv\"\n"
                + test("mysql", "passed", "")
                + "sleep 3; echo '[INFO] BUILD SUCCESS'\n");
        assertThat(told.text()).contains("MySQL 1/40").contains("downloaded 1 files, 12 MB");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void processor_time_of_a_jvm_and_of_its_servers_is_the_modules_that_uses_them() throws Exception {
        String counting = "i=0; while [ $i -lt 4000000 ]; do i=$((i+1)); done; sleep 3";
        Told told = told(
                MODULES
                        + "sh -c '" + counting + "' '-Dbitjang.module=Bitjang JPA' &\n"
                        + "server=" + root.resolve("cache/run") + "/build-1-$$-1/postgresql-1; mkdir -p $server\n"
                        + "printf 'Bitjang Core' >$server.user; echo $!-1 >$server/pid\n"
                        + test("postgresql", "passed", "")
                        + "wait\n",
                "verify",
                "-Dbitjang.testkit.cache=" + root.resolve("cache"));
        assertThat(told.text())
                .containsPattern("Core +0 +0 +[1-9]\\d* +0\n")
                .containsPattern("JPA +0 +[1-9]\\d* +0 +1\n");
    }

    @Test
    void what_the_tests_report_by_is_compiled_before_the_modules_and_only_if_need_be() throws Exception {
        Path source = root.resolve("checks/reporting/src/main/java/Journal.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, "class Journal {}");
        Path made = root.resolve("checks/reporting/target/classes/io/bitjang/reporting/Journal.class");
        String script = "echo \"$@\" >>'" + root.resolve("calls") + "'\n"
                + "mkdir -p '" + made.getParent() + "'; [ -e '" + made + "' ] || echo >'" + made + "'\n"
                + "exit 0\n";

        told(script, "-o", "verify", "-pl", ":bitjang-core", "-Dmaven.repo.local=here");
        told(script, "verify");

        assertThat(root.resolve("calls"))
                .hasContent("-o -Dmaven.repo.local=here -f " + root.resolve("pom.xml")
                        + " compile -pl :bitjang-test-reporting\n"
                        + "-o verify -pl :bitjang-core -Dmaven.repo.local=here\nverify\n");
        Files.delete(made);
        Told red = told("exit 3\n", "verify");
        assertThat(red.exitCode()).isEqualTo(3);
        assertThat(red.text()).contains("FAILED");
    }

    @Test
    void what_every_jvm_of_the_tests_says_is_said_once() throws Exception {
        String line = "echo '[INFO] No Chromium was found, so the pages are NOT tested.'\n";
        assertThat(told(MODULES + line + line).text()).containsOnlyOnce("No Chromium was found");
    }

    @Test
    void build_that_was_to_run_a_test_that_does_not_exist_is_red() throws Exception {
        String surefire = "echo '[INFO] --- surefire:3.6.1:test (default-test) @ bitjang-jpa ---'\n";
        Told told = told(MODULES + surefire, "verify", "-Dtest=NoSuchTest");
        assertThat(told.exitCode()).isEqualTo(1);
        assertThat(told.text()).contains("NO TEST HAS RUN", "NoSuchTest");

        String result = "echo '[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0'\n";
        Told ran = told(MODULES + surefire + result, "verify", "-Dtest=ATest");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.text()).contains("Tests run: 3");
    }

    @Test
    void second_build_in_the_same_place_is_refused() throws Exception {
        Process first = start("echo >\"$journal/../here\"; exec sleep 600\n");
        while (!Files.exists(root.resolve("target/build/here"))) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        Told second = told(MODULES);
        first.destroy();
        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.text()).contains("Another build runs in " + root);
        assertThat(first.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void results_of_an_earlier_build_are_forgotten() throws Exception {
        told(MODULES + test("h2", "failed", "once") + "exit 1\n");
        assertThat(told(MODULES).text()).doesNotContain("once");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoever_ends_it_ends_maven_too(boolean forcibly) throws Exception {
        Process process = start("echo $$ >\"$journal/../pid\"; echo '[INFO] here'; exec sleep 600\n");
        Path pid = root.resolve("target/build/pid");
        Path heard = root.resolve("target/build/maven.log");
        while (!Files.exists(heard) || !Files.readString(heard).contains("here")) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        ProcessHandle maven =
                ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
        if (forcibly) {
            process.destroyForcibly();
        } else {
            process.destroy();
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(maven.onExit()).succeedsWithin(Duration.ofSeconds(30));
    }

    private static String test(String database, String outcome, String why) {
        return "printf 'test\\tBitjang JPA\\t%s\\t%s\\t5\\tio.bitjang.ATest\\ta_promise\\t%s\\n' >>\"$journal/a.tsv\"\n"
                .formatted(database, outcome, why);
    }

    private Told told(String script, String... arguments) throws IOException, InterruptedException {
        Process process = start(script, arguments);
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Told(process.waitFor(), text);
    }

    private Process start(String script, String... arguments) throws IOException {
        build = root.resolve("maven");
        Files.writeString(build, "#!/bin/sh\njournal='" + root.resolve("target/build/journal") + "'\n" + script);
        Files.setPosixFilePermissions(build, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dbitjang.build.seconds=1",
                "-cp",
                "target/classes",
                Build.class.getName(),
                root.toString(),
                build.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }
}
