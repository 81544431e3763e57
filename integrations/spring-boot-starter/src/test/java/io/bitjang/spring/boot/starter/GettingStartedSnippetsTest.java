// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.starter;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.spring.Locked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

/** The application of docs/getting-started.md, which is the rest of this file. */
@ExtendWith(OutputCaptureExtension.class)
class GettingStartedSnippetsTest {

    @Test
    void the_application_of_the_first_page_runs(CapturedOutput output) {
        try (ConfigurableApplicationContext context = SpringApplication.run(ReportApplication.class)) {
            assertThat(output.getOut()).contains("The report is written");
            assertThat(context.getBean(Locks.class)).isNotNull();
        }
    }

    @Test
    void what_another_node_has_just_written_is_skipped(CapturedOutput output) {
        String url = "--spring.datasource.url=jdbc:h2:mem:nodes;DB_CLOSE_DELAY=-1";
        try (ConfigurableApplicationContext first = SpringApplication.run(ReportApplication.class, url)) {
            assertThat(first.isActive()).isTrue();
            SpringApplication.run(ReportApplication.class, url).close();
        }
        assertThat(output.getOut()).containsOnlyOnce("The report is written");
    }

    @Test
    void the_page_shows_just_that_application() throws IOException {
        String page = Files.readString(Path.of("../../docs/getting-started.md"));
        String source = Files.readString(
                Path.of("src/test/java/io/bitjang/spring/boot/starter/GettingStartedSnippetsTest.java"));
        String shown = source.substring(source.indexOf("\n@SpringBootApplication") + 1);
        assertThat(page).contains("\n" + shown + "```");
        assertThat(shown.lines().filter(line -> !line.isBlank())).hasSizeLessThanOrEqualTo(20);
    }
}

@SpringBootApplication
class ReportApplication {

    public static void main(String[] args) {
        SpringApplication.run(ReportApplication.class, args);
    }

    @Bean
    CommandLineRunner atStart(NightlyReport report) {
        return args -> report.write();
    }

    @Component
    static class NightlyReport {

        // one node writes it, even if another one starts half a minute later
        @Locked(value = "nightly-report", onContention = Locked.OnContention.SKIP, notFreeBefore = "30s")
        public void write() {
            System.out.println("The report is written");
        }
    }
}
