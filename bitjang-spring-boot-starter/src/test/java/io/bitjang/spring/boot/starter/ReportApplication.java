// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.starter;

import io.bitjang.spring.Locked;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

@SpringBootApplication
public class ReportApplication {

    public static void main(String[] args) {
        SpringApplication.run(ReportApplication.class, args);
    }

    @Bean
    CommandLineRunner atStart(NightlyReport report) {
        return args -> report.write();
    }

    @Component
    static class NightlyReport {

        @Locked(value = "nightly-report", onContention = Locked.OnContention.SKIP) // one node of all writes it
        public void write() {
            System.out.println("The report is written");
        }
    }
}
