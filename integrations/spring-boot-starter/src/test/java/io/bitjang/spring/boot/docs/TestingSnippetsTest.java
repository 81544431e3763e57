// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spring.Locked;
import io.bitjang.spring.boot.BitjangAutoConfiguration;
import io.bitjang.spring.boot.BitjangLockingAutoConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.TestContextManager;
import org.springframework.transaction.annotation.Transactional;

/** What docs/testing.md shows of Spring Boot, compiled and run. */
@Import(TestingSnippetsTest.Orders.class)
class TestingSnippetsTest {

    @SpringBootApplication
    static class Application {}

    @Nested
    @SpringBootTest
    class OrdersTest {

        @Autowired
        private Orders orders;

        @Autowired
        private Locks locks;

        @Autowired
        private JdbcTemplate jdbc;

        @BeforeEach
        void an_open_order() {
            jdbc.execute("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, state varchar(20))");
            jdbc.execute("MERGE INTO orders VALUES (42, 'open')");
        }

        @Test
        void an_order_that_someone_has_locked_is_not_shipped() {
            try (Lease theirs = locks.lease(LockName.of("order", "42")).acquire(Wait.none())) {
                assertThatThrownBy(() -> orders.ship(42)).isInstanceOf(CannotAcquireLockException.class);
            }
        }

        @Test
        @Transactional // rolled back after the test
        void shipping_closes_an_order() {
            assertThat(orders.open()).isEqualTo(1); // the test's transaction has read
            orders.ship(42); // H2, PostgreSQL: fine; MySQL, MariaDB: StaleSnapshotException
            assertThat(orders.open()).isZero();
        }
    }

    @Nested
    class Slices {

        @JdbcTest
        @Import(Orders.class)
        @ImportAutoConfiguration({BitjangAutoConfiguration.class, BitjangLockingAutoConfiguration.class})
        class OrdersSliceTest {}

        @Test
        void a_slice_has_the_lock_that_it_asks_for() {
            Orders orders = contextOf(OrdersSliceTest.class).getBean(Orders.class);
            assertThat(orders.isLocked("nightly-report")).isTrue();
        }

        @Test
        void a_slice_that_does_not_ask_has_none() {
            ApplicationContext context = contextOf(WithoutLocks.class);
            assertThat(context.getBeansOfType(Locks.class)).isEmpty();
            assertThat(context.getBean(Orders.class)).isNotNull();
        }

        private static ApplicationContext contextOf(Class<?> test) {
            return new TestContextManager(test).getTestContext().getApplicationContext();
        }

        @JdbcTest
        @Import(Orders.class)
        static class WithoutLocks {}
    }

    static class Orders {

        private final JdbcTemplate jdbc;

        Orders(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Locked(type = "order", value = "#{#id}")
        @Transactional
        public void ship(long id) {
            jdbc.update("UPDATE orders SET state = 'shipped' WHERE id = ?", id);
        }

        @Locked("#{#name}")
        public boolean isLocked(String name) {
            return jdbc.queryForObject(
                            "SELECT COUNT(*) FROM bitjang_locks WHERE id = ? AND lock_id IS NOT NULL",
                            Integer.class,
                            name)
                    == 1;
        }

        public int open() {
            return jdbc.queryForObject("SELECT COUNT(*) FROM orders WHERE state = 'open'", Integer.class);
        }
    }
}
