// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.OnH2;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.dialect.SessionDialect;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Whether a pooler stands before the server is asked on two connections; the server may fall silent on either. */
class PoolerQuestionTest extends OnH2 {

    private final HandTicker ticker = new HandTicker();
    private final CountDownLatch silent = new CountDownLatch(1);
    private final CountDownLatch cut = new CountDownLatch(1);
    private final AtomicInteger opened = new AtomicInteger();
    private SessionEngine engine;

    @Test
    void server_that_falls_silent_when_the_second_connection_is_asked_is_given_up() throws Exception {
        Throwable failure = triedWhileSilentAt(2, "prepareStatement");

        assertThat(failure).isInstanceOf(LockingFailException.class);
        assertThat(failure.getMessage()).as("that is not what a pooler does").doesNotContain("pooler");
    }

    @Test
    void server_that_falls_silent_when_the_first_connection_is_asked_is_given_up() throws Exception {
        Throwable failure = triedWhileSilentAt(1, "prepareStatement");

        assertThat(failure).isInstanceOf(LockingFailException.class);
        assertThat(failure.getMessage()).doesNotContain("pooler");
    }

    @Test
    void server_that_falls_silent_when_the_second_connection_is_tidied_up_is_given_up() throws Exception {
        assertThat(triedWhileSilentAt(2, "rollback")).isInstanceOf(LockingFailException.class);
    }

    @Test
    void server_that_falls_silent_when_the_first_connection_is_tidied_up_is_given_up() throws Exception {
        assertThat(triedWhileSilentAt(1, "rollback")).isInstanceOf(LockingFailException.class);
    }

    @Test
    void closing_gives_up_a_second_connection_that_does_not_answer() throws Exception {
        Job<Throwable> tries = silentAt(2, "prepareStatement");

        engine.close(ticker.in(Duration.ofSeconds(2))).join();

        assertThat(tries.result()).isInstanceOf(LockingFailException.class);
    }

    /** The time passes that a session may be silent, and the next look gives it up. */
    private Throwable triedWhileSilentAt(int connection, String method) throws Exception {
        Job<Throwable> tries = silentAt(connection, method);
        ticker.pass(Duration.ofSeconds(6));
        return tries.result();
    }

    /** Tries for a lock; the server does not answer this call on this connection, until that is cut. */
    private Job<Throwable> silentAt(int connection, String method) throws Exception {
        engine = engine(instead(DataSource.class, seen.dataSource(), "getConnection", open -> {
            Connection link = (Connection) open.call();
            if (opened.incrementAndGet() != connection) {
                return link;
            }
            Connection aborts = instead(Connection.class, link, "abort", abort -> {
                cut.countDown();
                return abort.call();
            });
            return instead(Connection.class, aborts, method, call -> {
                silent.countDown();
                cut.await();
                throw new SQLException("The connection was cut", "08006");
            });
        }));
        Job<Throwable> tries = start(() -> catchThrowable(() -> engine.tryAcquire(LockName.of("a"))));
        assertThat(silent.await(20, TimeUnit.SECONDS)).as("the server is asked").isTrue();
        return tries;
    }

    /** As on PostgreSQL: a session holds many locks, and a pooler may stand in between. */
    private SessionEngine engine(DataSource source) {
        Tables tables = new Tables(null, "bitjang_");
        Dialect h2 = Dialects.detect(seen.dataSource());
        SessionDialect shares = instead(SessionDialect.class, h2.sessions(tables.sessions()), "shares", call -> true);
        SessionDialect pooled = instead(SessionDialect.class, shares, "mayBePooled", call -> true);
        Workers workers = new ThreadWorkers(ticker);
        closing(() -> workers.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        SessionEngine engine = new SessionEngine(
                new SessionStore(
                        ticker, source, source, instead(Dialect.class, h2, "sessions", call -> pooled), tables),
                new SessionSettings("node", 1, 10),
                workers,
                new Events(List.of()));
        closing(() -> engine.close(ticker.in(Duration.ofSeconds(2))).join());
        closing(cut::countDown);
        return engine;
    }

    private interface Call {
        Object call() throws Throwable;
    }

    private interface Answer {
        Object to(Call call) throws Throwable;
    }

    private static <T> T instead(Class<T> type, T target, String method, Answer answer) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, args) -> {
            Call call = () -> {
                called.setAccessible(true);
                try {
                    return called.invoke(target, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            };
            return called.getName().equals(method) ? answer.to(call) : call.call();
        }));
    }
}
