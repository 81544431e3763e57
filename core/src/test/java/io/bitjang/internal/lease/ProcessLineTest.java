// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The line on H2, where no engine has one: to stand in it, a session lock is enough. */
class ProcessLineTest extends OnEngine {

    private static final List<LockName> FIRST = List.of(JOB);
    private static final List<LockName> NEXT = List.of(LockName.of("next"));

    private final AtomicReference<ProcessLine> lineOf = new AtomicReference<>();
    private final Gate silent = gate();
    private final CountDownLatch cut = new CountDownLatch(1);
    private SessionStore store;
    private ProcessLine gate;

    @BeforeEach
    void line() {
        DataSource source = seen.dataSource();
        store = new SessionStore(Ticker.SYSTEM, source, source, Dialects.detect(source), new Tables(null, "bitjang_"));
        gate = new ProcessLine(workers, store, new Nobody(), new Silent());
        closing(() -> gate.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        closing(seen::up);
    }

    @Test
    void name_whose_line_fails_keeps_no_other_name_from_standing_in_line() throws Exception {
        seen.before(sql -> {
            if (isTheGates(Thread.currentThread())) {
                throw new SQLException("The connection broke", "08006");
            }
        });
        assertThat(gate.want(FIRST)).isTrue();
        eventually(
                "its thread has ended",
                () -> Thread.getAllStackTraces().keySet().stream().noneMatch(ProcessLineTest::isTheGates));
        assertThat(gate.want(NEXT)).as("while it pauses after the failure").isFalse();

        seen.up();
        gate.retry = Ticker.SYSTEM.in(Duration.ZERO);

        assertThat(gate.want(NEXT)).isTrue();
        eventually("it stood in line", () -> gate.keepsOrder(NEXT));
    }

    private static boolean isTheGates(Thread thread) {
        return thread.getName().equals("bitjang-gate");
    }

    /** Waits for nothing, and has nothing. */
    private static class Nobody implements WakeUps.Sleepers {

        @Override
        public boolean areThere() {
            return false;
        }

        @Override
        public boolean waitFor(LockName name) {
            return false;
        }

        @Override
        public boolean have(LockName name) {
            return false;
        }

        @Override
        public void wake(List<LockName> freed) {}

        @Override
        public void goFirst(LockName name) {}
    }

    /** Never rings. */
    private static final class Silent implements WakeUps {

        @Override
        public boolean want(List<LockName> names) {
            return false;
        }

        @Override
        public boolean willRing(List<LockName> names, long since) {
            return false;
        }

        @Override
        public void close(Deadline end) {}
    }

    @Test
    void one_who_comes_while_the_line_is_left_stands_in_it_again() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        CountDownLatch turn = new CountDownLatch(1);
        AtomicReference<Boolean> told = new AtomicReference<>();
        ProcessLine line = new ProcessLine(
                workers,
                store,
                new Nobody() {
                    @Override
                    public boolean waitFor(LockName name) {
                        if (looks.getAndIncrement() == 0) {
                            // nobody waits; and before the line is left, one comes and asks
                            told.set(lineOf.get().want(FIRST));
                            return false;
                        }
                        return true;
                    }

                    @Override
                    public void goFirst(LockName name) {
                        turn.countDown();
                    }
                },
                new Silent());
        lineOf.set(line);
        closing(() -> line.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));

        line.want(FIRST);

        assertThat(turn.await(20, TimeUnit.SECONDS)).as("its turn has come").isTrue();
        assertThat(told.get()).as("it was told that it stands in line").isTrue();
    }

    /** It closes its connection, and still counts as running: whoever comes then starts no other. */
    @Test
    void one_who_comes_while_the_thread_of_the_line_ends_stands_in_line() throws Exception {
        HandTicker ticker = new HandTicker();
        DataSource source = seen.dataSource();
        Workers mine = new ThreadWorkers(ticker);
        closing(() -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        CountDownLatch turn = new CountDownLatch(1);
        AtomicBoolean stood = new AtomicBoolean();
        ProcessLine line = new ProcessLine(
                mine,
                new SessionStore(ticker, source, source, Dialects.detect(source), new Tables(null, "bitjang_")),
                new Nobody() {
                    @Override
                    public boolean waitFor(LockName name) {
                        stood.set(true);
                        return !name.equals(JOB) && turn.getCount() > 0;
                    }

                    @Override
                    public void goFirst(LockName name) {
                        turn.countDown();
                    }
                },
                new Silent());
        closing(() -> line.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        AtomicReference<Boolean> told = new AtomicReference<>();
        seen.onClose(() -> {
            if (isTheGates(Thread.currentThread()) && stood.get() && !line.keepsOrder(FIRST)) {
                seen.onClose(() -> {});
                told.set(line.want(NEXT));
            }
        });

        line.want(FIRST);

        assertThat(turn.await(20, TimeUnit.SECONDS)).as("its turn has come").isTrue();
        assertThat(told.get()).as("it was told that it stands in line").isTrue();
    }

    /** The server falls silent when its connection is to be given back: nobody else would ever end that. */
    @Test
    void connection_that_does_not_answer_when_the_line_ends_is_cut() throws Exception {
        HandTicker ticker = new HandTicker();
        ProcessLine line = silentAt("rollback", ticker);
        line.want(FIRST);
        silent.untilReached();

        ticker.pass(Duration.ofSeconds(10));
        line.giveUpIfSilent();

        assertThat(cut.await(20, TimeUnit.SECONDS)).as("its connection is cut").isTrue();
        silent.close();
    }

    @Test
    void connection_that_comes_while_the_line_is_closed_and_does_not_answer_is_cut() throws Exception {
        ProcessLine line = silentAt("prepareStatement", Ticker.SYSTEM);
        Gate opening = gate();
        seen.onOpen(() -> {
            if (isTheGates(Thread.currentThread())) {
                opening.pass();
            }
        });
        line.want(FIRST);
        opening.untilReached();
        start(() -> {
                    line.close(Ticker.SYSTEM.in(Duration.ofSeconds(3)));
                    return true;
                })
                .untilItIsIn("Deadline.join");

        opening.close();

        silent.untilReached();
        assertThat(cut.await(20, TimeUnit.SECONDS)).as("its connection is cut").isTrue();
        silent.close();
    }

    /** A line whose connections don't answer this call until they are cut. */
    private ProcessLine silentAt(String method, Ticker ticker) {
        DataSource source = (DataSource) silentAt(method, DataSource.class, seen.dataSource());
        Workers mine = new ThreadWorkers(ticker);
        closing(() -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        SessionStore sessions = new SessionStore(
                ticker, source, source, Dialects.detect(seen.dataSource()), new Tables(null, "bitjang_"));
        ProcessLine line = new ProcessLine(mine, sessions, new Nobody(), new Silent());
        closing(() -> line.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        return line;
    }

    private Object silentAt(String silentMethod, Class<?> type, Object target) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getName().equals("abort")) {
                cut.countDown();
            } else if (method.getName().equals(silentMethod) && isTheGates(Thread.currentThread())) {
                silent.pass();
            }
            Object result = method.invoke(target, arguments);
            return result instanceof Connection ? silentAt(silentMethod, Connection.class, result) : result;
        });
    }
}
