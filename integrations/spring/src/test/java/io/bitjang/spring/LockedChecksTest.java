// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.TestDatabases;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.web.context.request.async.DeferredResult;

/** What is wrong with {@code @Locked} is told when the application starts. The database does not matter. */
class LockedChecksTest {

    @Configuration
    @EnableLocking
    static class Application {}

    private HikariDataSource pool;
    private Locks locks;
    private AnnotationConfigApplicationContext context;

    @BeforeEach
    void open() {
        pool = TestDatabases.h2().pool(3);
        locks = Locks.create(pool);
        context = new AnnotationConfigApplicationContext();
        context.getBeanFactory().registerSingleton("locks", locks);
        context.register(Application.class);
    }

    @AfterEach
    void close() {
        context.close();
        locks.close();
        pool.close();
    }

    private <T> T start(Class<T> bean) {
        context.getBeanFactory().registerSingleton("dataSource", pool);
        context.registerBean(bean);
        context.refresh();
        return context.getBean(bean);
    }

    private void refused(Class<?> bean, String... said) {
        assertThat(told(catchThrowable(() -> start(bean))))
                .contains("@Locked(")
                .contains(bean.getName())
                .contains(said);
    }

    /** What the innermost of our own exceptions says. */
    private static String told(Throwable thrown) {
        String found = "nothing";
        for (Throwable e = thrown; e != null; e = e.getCause()) {
            found = e instanceof IllegalStateException ? e.getMessage() : found;
        }
        return found;
    }

    static class UnknownName {
        @Locked("order:#{#orderId}")
        public void ship(long id) {}
    }

    static class NoSharp {
        @Locked("order:#{id}")
        public void ship(long id) {}
    }

    static class NoBraces {
        @Locked("order:#id")
        public void ship(long id) {}
    }

    static class OnlyBraces {
        @Locked("order:{id}")
        public void ship(long id) {}
    }

    static class NoSyntax {
        @Locked("order:#{#id +}")
        public void ship(long id) {}
    }

    static class Function {
        @Locked("order:#{#hash(#id)}")
        public void ship(long id) {}
    }

    static class Blank {
        @Locked(" ")
        public void ship(long id) {}
    }

    @Test
    void name_that_is_no_parameter() {
        refused(UnknownName.class, "'orderId', which is no parameter", "[id]");
    }

    @Test
    void name_without_its_sharp() {
        refused(NoSharp.class, "'id', which belongs to nothing", "#{#id}");
    }

    @Test
    void name_without_braces_would_be_one_lock_for_all() {
        refused(NoBraces.class, "has #id as plain text", "Write #{#id}");
    }

    @Test
    void braces_alone_would_be_one_lock_for_all() {
        refused(OnlyBraces.class, "has {id} as plain text", "Write #{#id}");
    }

    @Test
    void expression_that_is_none() {
        refused(NoSyntax.class, "can't be parsed");
    }

    @Test
    void function_that_is_not_there() {
        refused(Function.class, "there are no functions");
    }

    @Test
    void no_name() {
        refused(Blank.class, "blank");
    }

    static class Private {
        @Locked("x")
        private void work() {}
    }

    static class Final {
        @Locked("x")
        public final void work() {}
    }

    static class Static {
        @Locked("x")
        public static void work() {}
    }

    @ParameterizedTest
    @ValueSource(classes = {Private.class, Final.class, Static.class})
    void method_that_a_proxy_can_not_intercept(Class<?> bean) {
        refused(bean, bean.getSimpleName().toLowerCase(Locale.ROOT) + " method", "LockTemplate");
    }

    static class ReturnsFuture {
        @Locked("x")
        public Future<String> work() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class ReturnsCallable {
        @Locked("x")
        public Callable<String> work() {
            return () -> "";
        }
    }

    static class ReturnsStream {
        @Locked("x")
        public Stream<String> work() {
            return Stream.of();
        }
    }

    static class ReturnsDeferredResult {
        @Locked("x")
        public DeferredResult<String> work() {
            return new DeferredResult<>();
        }
    }

    static final class OwnStage extends CompletableFuture<String> {}

    static class ReturnsOwnStage {
        @Locked("x")
        public OwnStage work() {
            return new OwnStage();
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ReturnsFuture.class,
                ReturnsCallable.class,
                ReturnsStream.class,
                ReturnsDeferredResult.class,
                ReturnsOwnStage.class
            })
    void result_that_comes_after_the_lock_is_free(Class<?> bean) {
        refused(bean, "would be free before its work is done");
    }

    static class ReturnsPublisher {
        @Locked("x")
        public Flow.Publisher<String> work() {
            return subscriber -> {};
        }
    }

    @Test
    void publisher_of_the_jdk_is_a_reactive_type_like_the_others() {
        assertThat(start(ReturnsPublisher.class)).isNotNull();
    }

    static class SkipsNumber {
        @Locked(value = "x", onContention = Locked.OnContention.SKIP)
        public int work() {
            return 1;
        }
    }

    static class SkipsFine {
        @Locked(value = "a", onContention = Locked.OnContention.SKIP)
        public void nothing() {}

        @Locked(value = "b", onContention = Locked.OnContention.SKIP)
        public Optional<String> maybe() {
            return Optional.of("done");
        }

        @Locked(value = "c", onContention = Locked.OnContention.SKIP)
        public boolean whether() {
            return true;
        }
    }

    @Test
    void skip_where_the_result_can_not_say_so() {
        refused(SkipsNumber.class, "says SKIP", "returns int");
    }

    @Test
    void skip_where_it_can() {
        SkipsFine bean = start(SkipsFine.class);

        assertThat(bean.maybe()).contains("done");
        assertThat(bean.whether()).isTrue();
    }

    static class NegativeLease {
        @Locked(value = "x", lease = "-1")
        public void work() {}
    }

    static class NegativeWait {
        @Locked(value = "x", waitFor = "-2s")
        public void work() {}
    }

    static class ZeroHold {
        @Locked(value = "x", maxHold = "0s")
        public void work() {}
    }

    static class NoDuration {
        @Locked(value = "x", notFreeBefore = "soon")
        public void work() {}
    }

    static class SessionLease {
        @Locked(value = "x", lease = "2s", kind = Locked.Kind.SESSION)
        public void work() {}
    }

    static class BlankType {
        @Locked(value = "x", type = " ")
        public void work() {}
    }

    @Test
    void durations_that_are_none() {
        refused(NegativeLease.class, "lease is no duration: '-1'");
    }

    @Test
    void wait_that_is_negative() {
        refused(NegativeWait.class, "waitFor is negative");
    }

    @Test
    void hold_of_nothing() {
        refused(ZeroHold.class, "maxHold is zero");
    }

    @Test
    void text_that_is_no_duration() {
        refused(NoDuration.class, "notFreeBefore is no duration: 'soon'");
    }

    @Test
    void session_lock_with_a_lease() {
        refused(SessionLease.class, "which a session lock does not have");
    }

    @Test
    void type_that_is_none() {
        refused(BlankType.class, "type of a lock");
    }

    static class Placeholders {
        @Locked(
                value = "${lock.name}:#{#id}",
                type = "${lock.type}",
                waitFor = "${lock.wait}",
                lease = "${lock.lease:PT20S}",
                maxHold = "${lock.hold:1m}",
                notFreeBefore = "${lock.min:1ms}")
        public String work(long id) {
            return "done";
        }
    }

    @Test
    void placeholders_are_resolved() {
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test", Map.of("lock.name", "order", "lock.type", "shop", "lock.wait", "2s")));
        Placeholders bean = start(Placeholders.class);

        assertThat(bean.work(System.nanoTime())).isEqualTo("done");
    }

    @Test
    void placeholder_without_a_value() {
        assertThatThrownBy(() -> start(Placeholders.class)).rootCause().hasMessageContaining("${lock.name}");
    }

    @Test
    void two_data_sources_without_a_choice() {
        context.getBeanFactory().registerSingleton("second", pool);

        assertThat(told(catchThrowable(() -> start(SkipsFine.class))))
                .contains("several data sources", "dataSource", "second", "following(");
    }

    @Test
    void two_data_sources_and_a_choice() {
        context.getBeanFactory().registerSingleton("second", pool);
        context.registerBean(
                LockingSettings.class, () -> LockingSettings.defaults().following("second"));

        assertThat(start(SkipsFine.class).whether()).isTrue();
    }

    @Test
    void no_data_source_leaves_offline_locks_that_act_at_once() {
        context.refresh();

        assertThat(context.getBean(LockManager.class)).isSameAs(locks.manager());
        assertThat(context.getBean(LockTemplate.class).tryRun("x", Wait.none(), () -> {}))
                .isTrue();
    }
}
