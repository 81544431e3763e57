// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

/** Which lock a call takes, wherever the annotation stands. The database does not matter. */
class LockedNamesTest {

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
        context.getBeanFactory().registerSingleton("dataSource", pool);
        context.register(Application.class);
    }

    @AfterEach
    void close() {
        context.close();
        locks.close();
        pool.close();
    }

    private <T> T start(Class<T> bean) {
        context.registerBean(bean);
        context.refresh();
        return context.getBean(bean);
    }

    private boolean held(LockName name) {
        return locks.admin().find(name).filter(LockData::held).isPresent();
    }

    private boolean held(String name) {
        return held(LockName.of(name));
    }

    record Order(long id, String customer) {}

    class Held {
        @Locked("order:#{#order.id}:#{#order.customer.concat('!')}")
        public boolean byProperty(Order order, String name) {
            return held(name);
        }

        @Locked(type = "order", value = "#{#p0 + #a1}")
        public boolean byIndex(long first, long second) {
            return held(LockName.of("order", String.valueOf(first + second)));
        }

        @Locked("list:#{#ids.?[#this > 1].![#this * 10][0]}")
        public boolean bySelection(List<Integer> ids, String name) {
            return held(name);
        }

        @Locked("bean:#{@suffix}")
        public boolean byBean() {
            return held("bean:of a bean");
        }

        @Locked("null:#{#order?.customer}")
        public void nullable(Order order) {}

        @Locked("object:#{#object}")
        public void object(Object object) {}
    }

    private Held started() {
        context.getBeanFactory().registerSingleton("suffix", "of a bean");
        context.registerBean(Held.class, () -> new Held());
        context.refresh();
        return context.getBean(Held.class);
    }

    @Test
    void expression_over_parameters_names_the_lock() {
        Held bean = started();

        assertThat(bean.byProperty(new Order(7, "kim"), "order:7:kim!")).isTrue();
        assertThat(bean.byIndex(3, 4)).isTrue();
        assertThat(bean.bySelection(List.of(1, 2, 3), "list:20")).isTrue();
        assertThat(bean.byBean()).isTrue();
    }

    @Test
    void null_or_blank_is_an_error_that_names_method_and_expression() {
        Held bean = started();

        assertThatThrownBy(() -> bean.nullable(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Held.nullable")
                .hasMessageContaining("#{#order?.customer} is null");
        assertThatThrownBy(() -> bean.nullable(new Order(1, " "))).hasMessageContaining("is blank");
        assertThatThrownBy(() -> bean.object(new Object())).hasMessageContaining("without a text of its own");
        assertThatThrownBy(() -> bean.object(new long[] {1})).hasMessageContaining("without a text of its own");
        assertThatThrownBy(() -> bean.object("x".repeat(300))).hasMessageContaining("Held.object");
    }

    interface Shipping<T> {
        @Locked("ship:#{#order}")
        boolean ship(T order);
    }

    class Ship implements Shipping<Long> {
        @Override
        public boolean ship(Long number) {
            return held("ship:" + number);
        }
    }

    @Test
    void annotation_of_an_interface_names_the_parameters_of_the_interface() {
        context.registerBean(Shipping.class, () -> new Ship());
        context.refresh();
        @SuppressWarnings("unchecked")
        Shipping<Long> bean = context.getBean(Shipping.class);

        assertThat(bean.ship(5L)).isTrue();
    }

    abstract static class Base {
        @Locked("base:#{#id}")
        public abstract boolean work(long id);
    }

    class Derived extends Base {
        @Override
        public boolean work(long number) {
            return held("base:" + number);
        }
    }

    @Test
    void annotation_of_an_overridden_method_counts() {
        context.registerBean(Base.class, () -> new Derived());
        context.refresh();

        assertThat(context.getBean(Base.class).work(6)).isTrue();
    }

    @Locked("class")
    class OnClass {
        public boolean work() {
            return held("class");
        }

        boolean notPublic() {
            return held("class");
        }

        @Locked("method")
        public boolean own() {
            return held("method") && !held("class");
        }

        @Override
        public String toString() {
            return "held: " + held("class");
        }
    }

    @Test
    void annotation_of_a_class_is_for_its_public_methods_but_not_those_of_object() {
        context.registerBean(OnClass.class, () -> new OnClass());
        context.refresh();
        OnClass bean = context.getBean(OnClass.class);

        assertThat(bean.work()).isTrue();
        assertThat(bean.own()).isTrue();
        assertThat(bean).hasToString("held: false");
        assertThat(bean.notPublic()).isFalse();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Locked(type = "report", value = "")
    @interface OncePerReport {
        @AliasFor(annotation = Locked.class, attribute = "value")
        String name();
    }

    class Reports {
        @OncePerReport(name = "nightly")
        public boolean write() {
            return held(LockName.of("report", "nightly"));
        }
    }

    @Test
    void annotation_of_the_application_s_own_can_carry_it() {
        context.registerBean(Reports.class, () -> new Reports());
        context.refresh();

        assertThat(context.getBean(Reports.class).write()).isTrue();
    }

    static class Plain {
        public void work() {}
    }

    @Test
    void bean_without_the_annotation_gets_no_proxy() {
        Plain bean = start(Plain.class);

        assertThat(bean.getClass()).isEqualTo(Plain.class);
    }
}
