// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** What an application holds is given back when it ends, and not before. */
class ShutdownTest {

    static List<String> databases() {
        return TestDatabases.selected();
    }

    /** Between the web server, which stops at a high phase, and the pools, which are closed at the very end. */
    @ParameterizedTest
    @MethodSource("databases")
    void locks_are_given_back_after_the_work_and_before_the_pools_close(String name) {
        TestDatabase database = TestDatabases.byName(name);
        List<String> seen = new ArrayList<>();
        try (Locks other = Locks.builder(database.dataSource()).owner("other").build()) {
            HikariDataSource[] pools = new HikariDataSource[2];
            Apps.on(database)
                    .withBean(
                            "server",
                            AtStop.class,
                            () -> new AtStop(
                                    SmartLifecycle.DEFAULT_PHASE - 1024,
                                    () -> seen.add("server stops, job " + state(other, "shutdown-job") + ", pool "
                                            + pool(pools[0]))))
                    .withBean(
                            "last",
                            AtStop.class,
                            () -> new AtStop(
                                    -1,
                                    () -> seen.add("last stops, job " + state(other, "shutdown-job") + ", pool "
                                            + pool(pools[0]))))
                    .run(context -> {
                        pools[0] = (HikariDataSource)
                                context.getBean(LockConnections.class).own();
                        pools[1] = context.getBean(HikariDataSource.class);
                        context.getBean(Locks.class)
                                .lease("shutdown-job")
                                .tryAcquire()
                                .orElseThrow();
                        context.getBean(Locks.class)
                                .session("shutdown-short")
                                .tryAcquire()
                                .orElseThrow();
                    });
            assertThat(seen).containsExactly("server stops, job held, pool open", "last stops, job free, pool open");
            assertThat(pools).allMatch(HikariDataSource::isClosed);
            assertThat(other.session("shutdown-short").tryRun(() -> {})).isTrue();
        }
    }

    @Test
    void a_context_that_is_stopped_and_started_again_keeps_its_locks() {
        Apps.plain().run(context -> {
            Locks locks = context.getBean(Locks.class);
            locks.lease("job").tryAcquire().orElseThrow();
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            application.stop();
            application.start();
            assertThat(state(locks, "job")).isEqualTo("held");
            assertThat(locks.lease("next").tryRun(() -> {})).isTrue();
        });
    }

    /** As the test framework does with a context that it keeps for later. */
    @Test
    void a_context_that_is_paused_keeps_its_locks() {
        Apps.plain().run(context -> {
            Locks locks = context.getBean(Locks.class);
            AnnotationConfigApplicationContext application =
                    (AnnotationConfigApplicationContext) context.getSourceApplicationContext();
            application.pause();
            application.restart();
            assertThat(locks.lease("next").tryRun(() -> {})).isTrue();
        });
    }

    @Test
    void the_end_of_a_child_context_ends_no_lock() {
        Apps.plain().run(context -> {
            try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
                child.setParent(context);
                child.refresh();
            }
            assertThat(context.getBean(Locks.class).lease("next").tryRun(() -> {}))
                    .isTrue();
        });
    }

    private static String state(Locks locks, String name) {
        return locks.admin().find(LockName.of(name)).orElseThrow().held() ? "held" : "free";
    }

    private static String pool(HikariDataSource pool) {
        return pool.isClosed() ? "closed" : "open";
    }

    private static final class AtStop implements SmartLifecycle {

        private final int phase;
        private final Runnable work;
        private volatile boolean running;

        AtStop(int phase, Runnable work) {
            this.phase = phase;
            this.work = work;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            work.run();
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return phase;
        }
    }
}
