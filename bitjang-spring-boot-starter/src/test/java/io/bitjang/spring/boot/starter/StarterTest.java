// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.starter;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/** An application that has the starter and a database driver, and nothing else. */
class StarterTest {

    /** What spring-boot-starter-jdbc has anyway. */
    private static final Set<String> OF_BOOT = Set.of(
            "ch.qos.logback",
            "com.zaxxer",
            "commons-logging",
            "io.micrometer",
            "jakarta.annotation",
            "org.apache.logging.log4j",
            "org.slf4j",
            "org.springframework",
            "org.springframework.boot",
            "org.yaml");

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
        Pattern artifact = Pattern.compile("^\\s+([\\w.-]+):([\\w.-]+):jar:([^:]+):(compile|runtime)");
        Set<String> brought = Files.readString(Path.of("target/dependencies.txt"))
                .lines()
                .map(artifact::matcher)
                .filter(java.util.regex.Matcher::find)
                .filter(found -> !OF_BOOT.contains(found.group(1)))
                .map(found -> found.group(1) + ":" + found.group(2))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(brought)
                .containsExactly(
                        "io.bitjang:bitjang-core",
                        "io.bitjang:bitjang-jpa",
                        "io.bitjang:bitjang-spring",
                        "io.bitjang:bitjang-spring-boot",
                        "org.jspecify:jspecify");
    }
}
