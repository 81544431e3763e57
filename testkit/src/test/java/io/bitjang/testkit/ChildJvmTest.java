// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ChildJvmTest {

    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    void child_answers_line_by_line() {
        try (ChildJvm child = ChildJvm.of(Echo.class)
                .args("one", "two words")
                .property("greeting", "good day")
                .start()) {
            assertThat(child.readLine(SOON)).isEqualTo("[one, two words] good day");
            child.send("héllo");
            assertThat(child.readLine(SOON)).isEqualTo("echo héllo");
            assertThat(child.isAlive()).isTrue();
        }
    }

    @Test
    void killed_child_is_gone() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.readLine(SOON);
            child.kill9();

            assertThat(child.isAlive()).isFalse();
            assertThat(ProcessHandle.of(child.pid())).isEmpty();
            assertThatThrownBy(() -> child.readLine(SOON))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("137");
        }
    }

    @Test
    void stopped_child_answers_only_when_continued() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.readLine(SOON);
            child.stop();
            child.send("anyone there?");
            assertThatThrownBy(() -> child.readLine(Duration.ofMillis(200)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no line");
            child.cont();
            assertThat(child.readLine(SOON)).isEqualTo("echo anyone there?");
        }
    }

    @Test
    void wall_clock_jumps_and_the_monotonic_clock_does_not() {
        try (ChildJvm child = ChildJvm.of(Clocks.class).jumpingClock().start()) {
            long[] before = clocks(child);
            child.jumpClock("+1h");
            long[] forward = clocksAfter(child, now -> now > before[0] + 3_000_000);
            child.jumpClock("-1h");
            long[] back = clocksAfter(child, now -> now < before[0] - 3_000_000);

            assertThat(Duration.ofMillis(forward[0] - before[0]))
                    .isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
            assertThat(Duration.ofMillis(back[0] - before[0]))
                    .isBetween(Duration.ofMinutes(-61), Duration.ofMinutes(-59));
            assertThat(Duration.ofNanos(back[1] - before[1])).isBetween(Duration.ZERO, Duration.ofMinutes(1));
        }
    }

    @Test
    void sleeping_child_wakes_after_a_jump_back() {
        try (ChildJvm child = ChildJvm.of(Clocks.class).jumpingClock().start()) {
            clocks(child);
            child.send("sleep");
            child.jumpClock("-1h");
            assertThat(child.readLine(SOON)).isEqualTo("awake");
        }
    }

    /** The library reads the new offset soon, not at once. */
    private static long[] clocksAfter(ChildJvm child, LongPredicate jumped) {
        long[] seen = clocks(child);
        long deadline = System.nanoTime() + SOON.toNanos();
        while (!jumped.test(seen[0]) && System.nanoTime() < deadline) {
            seen = clocks(child);
        }
        return seen;
    }

    private static long[] clocks(ChildJvm child) {
        child.send("clocks");
        String[] parts = child.readLine(SOON).split(" ");
        return new long[] {Long.parseLong(parts[0]), Long.parseLong(parts[1])};
    }

    @Test
    void child_dies_with_its_parent_even_when_it_is_stopped() throws Exception {
        try (ChildJvm parent = ChildJvm.of(Parent.class).start()) {
            long grandchild = Long.parseLong(parent.readLine(SOON));
            assertThat(ProcessHandle.of(grandchild)).isPresent();

            parent.kill9();

            assertThat(Eventually.holds(SOON, () -> ProcessHandle.of(grandchild).isEmpty()))
                    .isTrue();
        }
    }

    static final class Echo {
        public static void main(String[] args) throws IOException {
            System.out.println(java.util.Arrays.toString(args) + " " + System.getProperty("greeting"));
            var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            var out = new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println("echo " + line);
            }
        }
    }

    static final class Clocks {
        public static void main(String[] args) throws Exception {
            var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("sleep")) {
                    Thread.sleep(300);
                    System.out.println("awake");
                } else {
                    System.out.println(System.currentTimeMillis() + " " + System.nanoTime());
                }
            }
        }
    }

    static final class Parent {
        public static void main(String[] args) throws IOException {
            ChildJvm child = ChildJvm.of(Echo.class).start();
            child.readLine(SOON);
            child.stop();
            System.out.println(child.pid());
            System.in.read();
        }
    }

    static final class Connects {
        public static void main(String[] args) throws Exception {
            try (Connection connection = DriverManager.getConnection(args[0], args[1], args[2])) {
                System.out.println(connection.isValid(1) ? "connected" : "not connected");
                System.in.read();
            }
        }
    }
}
