// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.Locks;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Spring's scheduler and ShedLock's annotations, on two nodes. */
class SchedulerLockTest extends OnShedLock {

    @Test
    void scheduled_job_runs_on_one_node_at_a_time() throws Exception {
        Runs runs = new Runs(job, otherLocks);
        try (AnnotationConfigApplicationContext one = node(runs, locks);
                AnnotationConfigApplicationContext two = node(runs, otherLocks)) {
            assertThat(one.getBean(Jobs.class)).isNotSameAs(two.getBean(Jobs.class));
            assertThat(runs.enough.await(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(runs.overlaps).hasValue(0);
        assertThat(runs.extended).isGreaterThan(Duration.ofMinutes(5));
    }

    private AnnotationConfigApplicationContext node(Runs runs, Locks nodesLocks) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", Map.of("job", job)));
        context.registerBean(Runs.class, () -> runs);
        context.registerBean(Locks.class, () -> nodesLocks, definition -> definition.setDestroyMethodName(null));
        context.register(Node.class);
        context.refresh();
        return context;
    }

    /** What happened on both nodes. */
    static final class Runs {
        final String job;
        final Locks locks;
        final CountDownLatch enough = new CountDownLatch(10);
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger overlaps = new AtomicInteger();
        volatile Duration extended = Duration.ZERO;

        Runs(String job, Locks locks) {
            this.job = job;
            this.locks = locks;
        }
    }

    static class Jobs {
        private final Runs runs;

        Jobs(Runs runs) {
            this.runs = runs;
        }

        @Scheduled(fixedDelay = 2)
        @SchedulerLock(name = "${job}", lockAtMostFor = "1m", lockAtLeastFor = "5ms")
        public void work() {
            LockAssert.assertLocked();
            runs.overlaps.addAndGet(runs.inside.getAndIncrement());
            try {
                LockExtender.extendActiveLock(Duration.ofMinutes(10), Duration.ZERO);
                runs.extended = runs.locks
                        .admin()
                        .find(LockName.of("shedlock", runs.job))
                        .orElseThrow()
                        .remaining();
                runs.enough.countDown();
            } finally {
                runs.inside.getAndDecrement(); // also when the node is closed meanwhile, which interrupts it
            }
        }
    }

    @Configuration
    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "1m")
    static class Node {
        @Bean
        LockProvider lockProvider(Locks locks) {
            return new BitjangLockProvider(locks);
        }

        @Bean
        Jobs jobs(Runs runs) {
            return new Jobs(runs);
        }
    }
}
