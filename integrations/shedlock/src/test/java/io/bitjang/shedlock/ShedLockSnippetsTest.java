// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** The snippets of docs/from-shedlock.md. */
class ShedLockSnippetsTest extends OnShedLock {

    @BeforeEach
    void oldTable() {
        database.execute("CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT"
                + " NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
        otherLocks
                .admin()
                .find(LockName.of("shedlock", "nightly-report"))
                .filter(LockData::held)
                .ifPresent(
                        left -> otherLocks.admin().forceRelease(left.name(), left.fence(), "test", "the next begins"));
        database.execute("DELETE FROM shedlock");
    }

    @ParameterizedTest
    @ValueSource(classes = {Before.class, Transitional.class, After.class})
    void job_runs_before_meanwhile_and_afterwards(Class<?> node) {
        Report report = new Report();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(DataSource.class, () -> pool, definition -> definition.setDestroyMethodName(null));
            context.registerBean(Report.class, () -> report);
            context.register(Common.class, node);
            context.refresh();
            context.getBean(Jobs.class).nightlyReport();
            assertThat(report.written).isTrue();
        }
    }

    @Test
    void operator_sees_the_job() {
        locks.manager().tryLock("shedlock", "nightly-report", "host-7");
        StringBuilder out = new StringBuilder();

        LockData holder =
                locks.admin().find(LockName.of("shedlock", "nightly-report")).orElseThrow();
        out.append(holder);

        assertThat(out).contains("held by host-7");
    }

    static class Report {
        private boolean written;

        void write() {
            written = true;
        }
    }

    static class Jobs {
        private final Report report;

        Jobs(Report report) {
            this.report = report;
        }

        @Scheduled(cron = "0 0 2 * * *")
        @SchedulerLock(name = "nightly-report", lockAtMostFor = "10m", lockAtLeastFor = "1m")
        public void nightlyReport() {
            report.write();
        }
    }

    @Configuration
    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Common {
        @Bean
        Jobs jobs(Report report) {
            return new Jobs(report);
        }

        @Bean
        Locks locks(DataSource dataSource) {
            return Locks.create(dataSource);
        }
    }

    @Configuration
    static class Before {
        @Bean
        LockProvider lockProvider(DataSource dataSource) {
            return new JdbcTemplateLockProvider(dataSource);
        }
    }

    @Configuration
    static class Transitional {
        @Bean
        LockProvider lockProvider(Locks locks, DataSource dataSource) {
            LockProvider old = new JdbcTemplateLockProvider(dataSource); // just as it was
            return new BitjangLockProvider(locks).alongside(old);
        }
    }

    @Configuration
    static class After {
        @Bean
        LockProvider lockProvider(Locks locks) {
            return new BitjangLockProvider(locks);
        }
    }
}
