// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.spring.web.EditLockEventsTest.Ear;
import io.bitjang.testkit.TestDatabases;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.function.ServerResponse.SseBuilder;

/** Whatever an application's policy throws, and whatever the JVM lacks for a moment: listeners hear of what comes after. */
class EditLockFeedFailuresTest {

    private static final Duration QUICK = Duration.ofMillis(50);

    private final String id = UUID.randomUUID().toString();

    abstract static class Failing implements EditLockPolicy {

        final CountDownLatch failed = new CountDownLatch(1);

        @Override
        public boolean mayEdit(Principal person, LockName name) {
            if (name.id().startsWith("bad")) {
                failed.countDown();
                fail();
            }
            return true;
        }

        @Override
        public boolean mayTakeOver(Principal person, LockData held) {
            return false;
        }

        abstract void fail();
    }

    static class WithAnError {

        @Bean
        EditLockPolicy policy() {
            return new Failing() {
                @Override
                void fail() {
                    throw new NoClassDefFoundError("of the policy");
                }
            };
        }
    }

    /** As Kotlin and Lombok let it pass. */
    static class WithAnUndeclaredException {

        @Bean
        EditLockPolicy policy() {
            return new Failing() {
                @Override
                void fail() {
                    EditLockFeedFailuresTest.<RuntimeException>raise(new IOException("the directory is away"));
                }
            };
        }
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void raise(Throwable any) throws X {
        throw (X) any;
    }

    @ParameterizedTest
    @ValueSource(classes = {WithAnError.class, WithAnUndeclaredException.class})
    void policy_that_fails_silences_nothing_else(Class<?> policy) throws Exception {
        try (HikariDataSource pool = TestDatabases.h2().pool(5);
                Locks otherNode = Locks.create(pool);
                EditServer server = new EditServer(
                        pool,
                        Locks.builder(pool),
                        EditLockSettings.ofTypes("order").withPollInterval(QUICK),
                        policy);
                Ear ear = new Ear(server.person("lee"), "/events")) {
            otherNode.manager().tryLock("order", "1" + id, "kim");
            assertThat(ear.about(LockName.of("order", "1" + id))).contains("kim");
            otherNode.manager().tryLock("order", "bad" + id, "kim");
            assertThat(((Failing) server.context.getBean(EditLockPolicy.class)).failed.await(20, TimeUnit.SECONDS))
                    .isTrue();
            otherNode.manager().tryLock("order", "2" + id, "kim");

            assertThat(ear.about(LockName.of("order", "2" + id))).isNotNull().contains("\"2" + id);
        }
    }

    /** A stream that notes what is sent. */
    private static SseBuilder out(List<String> heard) {
        return (SseBuilder) Proxy.newProxyInstance(
                EditLockFeedFailuresTest.class.getClassLoader(),
                new Class<?>[] {SseBuilder.class},
                (proxy, method, arguments) -> {
                    heard.add(method.getName()
                            + (arguments != null && arguments[0] instanceof String text ? " " + text : ""));
                    return method.getReturnType() == void.class ? null : proxy;
                });
    }

    private static EditLockListener listener(List<String> heard, Executor writers) {
        return new EditLockListener(out(heard), () -> "lee", Set.of("order"), null, writers);
    }

    @Test
    void what_no_thread_could_be_started_for_is_written_later() {
        List<String> heard = new CopyOnWriteArrayList<>();
        AtomicInteger started = new AtomicInteger();
        EditLockListener listener = listener(heard, work -> {
            if (started.incrementAndGet() == 1) {
                throw new InternalError("no thread could be started");
            }
            work.run();
        });

        listener.send(out -> out.data("one"));
        assertThat(heard).isEmpty();
        listener.sendIfIdle(out -> out.comment("alive"));
        assertThat(heard).containsExactly("data one");
        listener.send(out -> out.data("two"));

        assertThat(heard).containsExactly("data one", "data two");
    }

    @Test
    void stream_whose_writing_failed_ends_so_that_the_browser_connects_again() {
        List<String> heard = new CopyOnWriteArrayList<>();
        EditLockListener listener = listener(heard, Runnable::run);

        listener.send(out -> {
            throw new NoClassDefFoundError("of a converter");
        });

        assertThat(heard).containsExactly("complete");
        assertThat(listener.isDeaf()).isTrue();
    }
}
