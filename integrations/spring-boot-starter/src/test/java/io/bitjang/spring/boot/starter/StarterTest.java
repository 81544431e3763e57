// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.starter;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/** An application that has the starter and a database driver, and nothing else. */
class StarterTest {

    private static final String JDBC = "org.springframework.boot:spring-boot-starter-jdbc";
    private static final Pattern ARTIFACT = Pattern.compile("([\\w.-]+:[\\w.-]+):jar:");

    @Test
    void it_starts_without_actuator_micrometer_web_and_jpa() {
        for (String absent : new String[] {
            "org.springframework.boot.actuate.endpoint.annotation.Endpoint",
            "org.springframework.boot.health.contributor.Health",
            "io.micrometer.core.instrument.MeterRegistry",
            "jakarta.servlet.Servlet",
            "jakarta.persistence.EntityManager"
        }) {
            assertThat(ClassUtils.isPresent(absent, null)).as(absent).isFalse();
        }
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(ReportApplication.class)
                .web(WebApplicationType.NONE)
                .run()) {
            assertThat(context.getBean(Locks.class).lease("job").tryRun(() -> {}))
                    .isTrue();
        }
    }

    @Test
    void it_brings_in_nothing_but_bitjang_that_a_boot_application_with_jdbc_does_not_have() throws IOException {
        Set<String> brought = brought();
        Set<String> ofJdbc = broughtByJdbc();
        assertThat(brought).containsAll(ofJdbc);
        assertThat(ofJdbc).contains(JDBC, "org.springframework:spring-core", "com.zaxxer:HikariCP");
        brought.removeAll(ofJdbc);
        brought.remove("org.jspecify:jspecify");
        assertThat(brought)
                .containsExactly(
                        "io.bitjang:bitjang-core",
                        "io.bitjang:bitjang-jpa",
                        "io.bitjang:bitjang-spring",
                        "io.bitjang:bitjang-spring-boot",
                        "io.bitjang:bitjang-spring-web");
    }

    /** What Maven puts on the class path of an application with the starter. */
    private static Set<String> brought() throws IOException {
        return Files.readString(Path.of("target/dependencies.txt"))
                .lines()
                .map(ARTIFACT::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * What can be reached from {@value #JDBC} alone. Each artifact has its own dependencies below it at one place of the tree, which
     * may be under another parent.
     */
    private static Set<String> broughtByJdbc() throws IOException {
        Map<String, Set<String>> needs = new HashMap<>();
        List<String> path = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("target/tree.txt"))) {
            Matcher found = ARTIFACT.matcher(line);
            if (!found.find()) {
                continue;
            }
            int depth = (line.length() - line.stripLeading().length()) / 3;
            path.subList(depth, path.size()).clear();
            path.add(found.group(1));
            if (depth > 0) {
                needs.computeIfAbsent(path.get(depth - 1), parent -> new TreeSet<>())
                        .add(found.group(1));
            }
        }
        Set<String> reached = new TreeSet<>();
        Deque<String> next = new ArrayDeque<>(List.of(JDBC));
        while (!next.isEmpty()) {
            String artifact = next.remove();
            if (reached.add(artifact)) {
                next.addAll(needs.getOrDefault(artifact, Set.of()));
            }
        }
        return reached;
    }
}
