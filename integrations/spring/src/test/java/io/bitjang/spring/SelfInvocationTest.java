// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.util.List;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An object that calls its own {@code @Locked} method goes past the proxy: found in the code of the class, at start-up. */
class SelfInvocationTest {

    @Configuration
    @EnableLocking
    static class Application {}

    private HikariDataSource pool;
    private Locks locks;
    private AnnotationConfigApplicationContext context;

    @BeforeEach
    void open() {
        pool = TestDatabases.h2().pool(2);
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

    static class Shipping {
        @Locked("order:#{#id}")
        public void ship(long id) {}
    }

    static class Direct extends Shipping {
        public void shipAll(List<Long> ids) {
            for (long id : ids) {
                ship(id > 0 ? id : -id);
            }
        }
    }

    static class InLambda extends Shipping {
        public void shipAll(List<Long> ids) {
            ids.forEach(id -> ship(id));
        }
    }

    static class ByReference extends Shipping {
        public void shipAll(List<Long> ids) {
            ids.forEach(this::ship);
        }
    }

    static class BySuper extends Shipping {
        public void shipOne(long id) {
            super.ship(id);
        }
    }

    abstract static class Template {
        public void shipAll(List<Long> ids) {
            for (Long id : ids) {
                ship(id);
            }
        }

        public abstract void ship(long id);
    }

    static class ByParent extends Template {
        @Override
        @Locked("order:#{#id}")
        public void ship(long id) {}
    }

    interface Batch {
        @Locked("order:#{#id}")
        void ship(long id);

        default void shipAll(List<Long> ids) {
            ids.forEach(this::ship);
        }
    }

    static class ByDefaultMethod implements Batch {
        @Override
        public void ship(long id) {}
    }

    static class FromAnotherLock {
        @Locked("order:#{#id}")
        public void ship(long id) {}

        @Locked("customer:#{#customer}")
        public void shipAll(long customer) {
            long twice = customer * 2L;
            double ignored = twice / 3.0;
            ship(twice + (long) ignored);
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Direct.class,
                InLambda.class,
                ByReference.class,
                BySuper.class,
                ByParent.class,
                ByDefaultMethod.class,
                FromAnotherLock.class
            })
    void call_past_the_proxy_fails_at_start_with_its_place(Class<?> bean) {
        context.registerBean(bean);

        assertThatThrownBy(() -> context.refresh())
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("calls ship")
                .hasMessageMatching("(?s).*SelfInvocationTest\\$\\w+\\.ship(All|One) \\(line \\d+\\) calls ship.*")
                .hasMessageContaining("LockTemplate");
    }

    @ParameterizedTest
    @ValueSource(classes = {Direct.class, ByReference.class})
    void it_is_a_warning_if_the_application_says_so(Class<?> bean) {
        context.registerBean(bean);
        context.registerBean(
                LockingSettings.class, () -> LockingSettings.defaults().warningOnSelfInvocation());

        context.refresh();

        assertThat(context.getBean(bean)).isNotNull();
    }

    static class Fine {
        private Fine self;

        Fine() {}

        private Fine(int ignored) {
            this.self = this;
        }

        @Locked("order:#{#id}")
        public void ship(long id) {}

        // on the proxy of itself, or another object
        public void shipAll(List<Long> ids) {
            for (long id : ids) {
                self.ship(id);
            }
            ids.forEach(self::ship);
            LongConsumer other = new Fine(0)::ship;
            ids.forEach(other::accept);
            new Fine(1).ship(ids.isEmpty() ? 1 : 2);
        }

        public void shipBy(Fine another, long id) {
            another.ship(id);
        }

        // under the same lock already
        @Locked("order:#{#id}")
        public void shipAgain(long id) {
            ship(id);
            Runnable later = () -> ship(id);
            later.run();
        }
    }

    @Test
    void call_through_the_proxy_and_call_under_the_same_lock_are_fine() {
        context.registerBean(Fine.class, () -> new Fine(1));

        context.refresh();

        assertThat(context.getBean(Fine.class)).isNotNull();
    }

    static class Overriding extends Shipping {
        @Override
        public void ship(long id) {
            super.ship(id);
        }
    }

    @Test
    void overriding_method_that_calls_its_parent_is_fine() {
        context.registerBean(Overriding.class);

        context.refresh();

        assertThat(context.getBean(Overriding.class)).isNotNull();
    }
}
