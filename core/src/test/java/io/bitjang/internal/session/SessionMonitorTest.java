// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.OnH2;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.dialect.SessionDialect;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** How often the sessions are looked at. */
class SessionMonitorTest extends OnH2 {

    private static final LockName NAME = LockName.of("a");

    /** In how many nanoseconds something is to happen, by what was asked for last. */
    private final AtomicLong next = new AtomicLong();

    /** It may be asked for a lock at any moment, and not answer: whoever asks would wait for the next look. */
    @Test
    void session_that_carries_nothing_is_looked_at_as_often_as_it_may_be_silent() throws Exception {
        SessionEngine engine = engine();
        assertThat(engine.tryAcquire(NAME)).as("H2 has no lock without a row").isNull();

        eventually(
                "it is looked at seldom",
                () -> next.get() > Duration.ofSeconds(1).toNanos());

        assertThat(next.get()).isLessThanOrEqualTo(Duration.ofSeconds(5).toNanos());
    }

    /** As on PostgreSQL, MySQL and MariaDB: one session is kept, and asked for many locks. */
    private SessionEngine engine() {
        DataSource source = seen.dataSource();
        Tables tables = new Tables(null, "bitjang_");
        Dialect h2 = Dialects.detect(source);
        SessionDialect shares =
                instead(SessionDialect.class, h2.sessions(tables.sessions()), "shares", arguments -> true);
        Workers threads = new ThreadWorkers(Ticker.SYSTEM);
        closing(() -> threads.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        Workers workers = instead(Workers.class, threads, "after", arguments -> {
            next.set((Long) arguments[0]);
            return threads.after((Long) arguments[0], (Runnable) arguments[1]);
        });
        SessionEngine engine = new SessionEngine(
                new SessionStore(
                        Ticker.SYSTEM,
                        source,
                        source,
                        instead(Dialect.class, h2, "sessions", arguments -> shares),
                        tables),
                new SessionSettings("node", 1, 10),
                workers,
                new Events(List.of()));
        closing(() -> engine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))).join());
        return engine;
    }

    private interface Answer {
        Object to(Object[] arguments);
    }

    private static <T> T instead(Class<T> type, T target, String method, Answer answer) {
        InvocationHandler handler = (proxy, called, arguments) -> {
            if (called.getName().equals(method)) {
                return answer.to(arguments);
            }
            called.setAccessible(true);
            return called.invoke(target, arguments);
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
