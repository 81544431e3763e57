// SPDX-License-Identifier: Apache-2.0
package io.bitjang.clusters;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.testkit.ChildJvm;
import io.bitjang.testkit.Cluster;
import io.bitjang.testkit.ClusterKind;
import io.bitjang.testkit.ClusterSettings;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opentest4j.TestAbortedException;

/** Nothing of a cluster outlives the JVM that started it. */
@Timeout(300)
class ClusterEndTest {

    /** One whose members are many processes, one whose members are one process each. */
    static Stream<ClusterKind> kinds() {
        return Stream.of(ClusterKind.ASYNCHRONOUS, ClusterKind.GALERA)
                .filter(kind -> TestDatabases.selected().contains(kind.product()));
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("kinds")
    void all_processes_end_when_the_jvm_is_killed_even_those_that_were_paused(ClusterKind kind) throws Exception {
        ChildJvm.Builder builder = ChildJvm.of(StartsCluster.class).args(kind.name());
        System.getProperties().stringPropertyNames().stream()
                .filter(key -> key.startsWith("bitjang."))
                .forEach(key -> builder.property(key, System.getProperty(key)));
        try (ChildJvm child = builder.start()) {
            List<ProcessHandle> processes = Stream.of(
                            child.readLine(Duration.ofSeconds(180)).split(" "))
                    .map(Long::parseLong)
                    .map(ProcessHandle::of)
                    .flatMap(Optional::stream)
                    .toList();
            assertThat(processes).hasSizeGreaterThanOrEqualTo(2 * Cluster.MEMBERS);

            child.kill9();

            assertThat(Eventually.holds(
                            Duration.ofSeconds(60), () -> processes.stream().noneMatch(ProcessHandle::isAlive)))
                    .as("%s", processes)
                    .isTrue();
        }
    }

    static final class StartsCluster {
        public static void main(String[] args) throws Exception {
            Cluster cluster = start(ClusterKind.valueOf(args[0]));
            cluster.member(2).pause();
            System.out.println(ProcessHandle.current()
                    .descendants()
                    .map(process -> Long.toString(process.pid()))
                    .collect(Collectors.joining(" ")));
            System.in.read();
        }

        private static Cluster start(ClusterKind kind) {
            try {
                return Cluster.start(kind, ClusterSettings.defaults().cuttable());
            } catch (TestAbortedException e) {
                return Cluster.start(kind, ClusterSettings.defaults());
            }
        }
    }
}
