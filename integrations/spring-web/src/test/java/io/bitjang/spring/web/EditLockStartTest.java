// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.mock.web.MockServletContext;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import reactor.core.publisher.Mono;

/** What is wrong stops the start, and says what to change. */
class EditLockStartTest {

    private static HikariDataSource pool;

    @BeforeAll
    static void open() {
        pool = TestDatabases.h2().pool(3);
    }

    @AfterAll
    static void close() {
        pool.close();
    }

    /** A second manager, as an application with two data sources has. */
    static class Second {
        @Bean
        DataSourceTransactionManager reports(DataSource business) {
            return new DataSourceTransactionManager(business);
        }
    }

    @RestController
    static class Named {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}", transactionManager = "reports")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    private static Throwable start(Class<?>... controller) {
        return catchThrowable(() -> {
            try (AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext()) {
                context.setServletContext(new MockServletContext());
                context.addBeanFactoryPostProcessor(factory -> {
                    factory.registerSingleton("settings", EditLockSettings.ofTypes("order"));
                    factory.registerSingleton("business", pool);
                    factory.registerSingleton("builder", Locks.builder(pool));
                });
                context.register(EditServer.Base.class);
                context.register(controller);
                context.refresh();
            }
        });
    }

    private static void refused(Class<?> controller, String why) {
        Throwable failure = start(controller);
        assertThat(failure).isNotNull();
        assertThat(failure).hasStackTraceContaining("@RequiresEditLock on " + controller.getName() + ".save ");
        assertThat(failure).hasStackTraceContaining(why);
    }

    @RestController
    static class Good {
        @PostMapping({"/a/{no}", "/b/{no:[0-9]+}", "/c/{*no}"})
        @RequiresEditLock(type = "order", id = "{no}")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class NoSuchParameter {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "#{#number}")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class NoSuchVariable {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{number}")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class NoExpression {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "#{#no")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class Constant {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "no")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class OtherType {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "invoice", id = "{no}")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class BlankType {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = " ", id = "{no}")
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class Later {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public CompletableFuture<String> save(@PathVariable String no) {
            return CompletableFuture.completedFuture(no);
        }
    }

    @RestController
    static class Called {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public Callable<String> save(@PathVariable String no) {
            return () -> no;
        }
    }

    @RestController
    static class Reactive {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public Mono<String> save(@PathVariable String no) {
            return Mono.just(no);
        }
    }

    @RestController
    static class Versioned {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}", version = true)
        public String save(@PathVariable String no) {
            return no;
        }
    }

    @Component
    static class Service {
        @RequiresEditLock(type = "order", id = "#{#no}")
        public String save(String no) {
            return no;
        }
    }

    @RestController
    static class Final {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public final String save(@PathVariable String no) {
            return no;
        }
    }

    @RestController
    static class Private {
        @PostMapping("/a/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        private String save(@PathVariable String no) {
            return no;
        }
    }

    @Test
    void handler_that_is_right_starts() {
        assertThat(start(Good.class)).isNull();
    }

    @Test
    void handler_that_is_wrong_is_named_with_the_reason() {
        refused(NoSuchParameter.class, "uses #number, which is no parameter of the handler; there are #a0, #no, #p0");
        refused(NoSuchVariable.class, "has the id {number}, but there is no such variable in the path /a/{no}.");
        refused(NoExpression.class, "has an id that is no expression");
        refused(Constant.class, "has the same id for every request, 'no'. Write {no} for the path variable no");
        refused(
                OtherType.class,
                "has the type 'invoice', which is not among the types of the EditLockSettings: [order]");
        refused(BlankType.class, "has a type that is none");
        refused(Versioned.class, "requires a version, but there is no bean of type EditLockVersions");
    }

    @Test
    void of_several_transaction_managers_one_must_be_named() {
        assertThat(start(Good.class, Second.class))
                .hasStackTraceContaining("does not tell in whose transactions it runs")
                .hasStackTraceContaining("transactionManager = ");
        assertThat(start(Named.class, Second.class)).isNull();
        refused(Named.class, "does not tell in whose transactions it runs");
    }

    @Test
    void handler_that_could_not_be_guarded_is_refused() {
        refused(Later.class, "answers later (CompletableFuture)");
        refused(Called.class, "answers later (Callable)");
        refused(Reactive.class, "answers later (Mono)");
        refused(Service.class, "a class that is no @Controller");
        refused(Final.class, "private or final method");
        refused(Private.class, "private or final method");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "locks", "/locks/", "/a b", "/{x}", "//", "/a?b"})
    void base_path_that_is_none_is_refused(String path) {
        EditLockSettings settings = EditLockSettings.ofTypes("order");
        assertThatThrownBy(() -> settings.withBasePath(path)).hasMessageContaining("base path");
    }

    @Test
    void settings_that_make_no_sense_are_refused() {
        EditLockSettings settings = EditLockSettings.ofTypes("order");
        assertThatThrownBy(() -> settings.withLease(Duration.ofSeconds(-1)))
                .hasMessage("The lease of an edit lock must be at least PT1S, not PT-1S");
        assertThatThrownBy(() -> settings.withLeaveGrace(Duration.ZERO)).hasMessageContaining("leave grace");
        assertThatThrownBy(() -> settings.withLeaveGrace(Duration.ofMinutes(4))).hasMessageContaining("longer");
        assertThatThrownBy(() -> settings.withPollInterval(Duration.ZERO)).hasMessageContaining("poll interval");
        EditLockSettings.Limits limits = settings.limits();
        assertThatThrownBy(() -> limits.withListeners(0)).hasMessageContaining("number of listeners must be");
        assertThatThrownBy(() -> limits.withListenersPerPerson(0)).hasMessageContaining("listeners of one person");
        assertThatThrownBy(() -> limits.withLocksPerPerson(0)).hasMessageContaining("edit locks of one person");
        assertThatThrownBy(() -> limits.withWatched(-1)).hasMessageContaining("watched");
        assertThatThrownBy(() -> limits.withSweepAfter(Duration.ofMinutes(59))).hasMessageContaining("PT1H");
        assertThatThrownBy(() -> EditLockSettings.ofTypes("order", " ")).hasMessageContaining("blank");
        assertThat(settings.renewInterval()).isEqualTo(Duration.ofMinutes(1));
    }
}
