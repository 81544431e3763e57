// SPDX-License-Identifier: Apache-2.0
package io.bitjang.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The demonstration shows what the README says that it shows. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DemoTest {
    private static final Pattern FENCE = Pattern.compile("^ +[0-9.]+ s .*\\bfence (\\d+)", Pattern.MULTILINE);

    private String narration = "";
    private int exitCode = -1;
    private List<ProcessHandle> nodes = List.of();

    @BeforeAll
    void run() throws IOException, InterruptedException {
        Process demo = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Demo.class.getName())
                .redirectErrorStream(true)
                .start();
        StringBuilder said = new StringBuilder();
        try (var lines = demo.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said.append(line).append('\n');
                if (line.contains("renewed")) {
                    nodes = demo.descendants().toList();
                }
            }
        }
        assertThat(demo.waitFor(30, TimeUnit.SECONDS)).isTrue();
        exitCode = demo.exitValue();
        narration = said.toString();
    }

    @Test
    void ends_well() {
        assertThat(exitCode).as(narration).isZero();
        assertThat(narration).endsWith("Everything went as promised.\n");
    }

    @Test
    void one_node_gets_the_job_and_the_other_waits() {
        assertThat(narration).containsPattern("(node-1 +got it, fence \\d+)|(node-2 +got it, fence \\d+)");
        assertThat(narration).containsPattern("node-[12] +waits: it is held by node-[12]");
    }

    @Test
    void the_other_takes_over_from_the_killed_node() {
        assertThat(narration)
                .containsPattern("kill -9 \\d+")
                .containsPattern("node-[12] +took over [0-9.]+ s after the kill");
    }

    @Test
    void the_save_of_the_node_that_slept_is_refused() {
        assertThat(narration)
                .contains("woke up and saved 'Busan': refused")
                .contains("is not held under this lock id any more")
                .contains("order 42 goes to 'Jeju'");
    }

    @Test
    void the_fences_grow() {
        List<Long> fences = FENCE.matcher(narration)
                .results()
                .map((MatchResult found) -> Long.parseLong(found.group(1)))
                .toList();
        assertThat(fences).hasSize(4).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void it_leaves_no_process_behind() {
        assertThat(nodes).hasSizeGreaterThanOrEqualTo(2).noneMatch(ProcessHandle::isAlive);
    }
}
