// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

/** The snippets of docs/spring.md. */
class SpringSnippetsTest {

    private static HikariDataSource smallPool() {
        return TestDatabases.h2().pool(4);
    }

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class LockingApplication {

        @Bean
        Locks locks() {
            return Locks.create(smallPool()); // a pool of its own, to the same database
        }
    }

    @Configuration
    @EnableResilientMethods
    static class Rest {
        @Bean
        HikariDataSource dataSource() {
            return TestDatabases.h2().pool(4);
        }

        @Bean
        JdbcTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        OrderPages pages(LockManager locks, Orders orders) {
            return new OrderPages(locks, orders);
        }

        @Bean
        OrderService service(Orders orders) {
            return new OrderService(orders);
        }

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    record Order(long id) {}

    static class Orders {
        final List<Order> saved = new ArrayList<>();

        public void save(Order order) {
            saved.add(order);
        }

        public void ship(long id) {}
    }

    static class OrderPages {
        private final LockManager locks;
        private final Orders orders;

        OrderPages(LockManager locks, Orders orders) {
            this.locks = locks;
            this.orders = orders;
        }

        public LockId open(long id, String person) {
            return locks.tryLock("order", String.valueOf(id), person); // at once, whatever becomes of a transaction
        }

        @Transactional
        public void save(LockId lockId, Order edited) {
            locks.checkLock(lockId); // from here to the commit nobody can take the lock over
            orders.save(edited);
            locks.releaseLock(lockId); // free when, and only when, this commits
        }
    }

    static class OrderService {
        private final Orders orders;

        OrderService(Orders orders) {
            this.orders = orders;
        }

        @Locked(type = "order", value = "#{#id}", waitFor = "2s")
        @Transactional
        public void ship(long id) {
            orders.ship(id);
        }

        @Retryable(includes = ConcurrencyFailureException.class)
        @Locked(type = "order", value = "#{#order.id}")
        @Transactional
        public void save(Order order) {
            orders.save(order);
        }

        @Locked(
                value = "nightly-report",
                onContention = Locked.OnContention.SKIP,
                notFreeBefore = "30s",
                maxHold = "1h")
        public void report() {}

        @Locked(value = "stock:#{#item}", kind = Locked.Kind.SESSION, waitFor = "${stock.wait:500ms}")
        public Optional<Integer> reserve(String item) {
            return Optional.of(1);
        }

        @Locked(type = "order", value = "#{#id}", waitFor = "2s")
        public Mono<Order> load(long id) {
            return Mono.just(new Order(id));
        }
    }

    private static AnnotationConfigApplicationContext started() {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        // half a second may be too short on a busy machine, even for a lock that is free
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("test", Map.of("stock.wait", "30s")));
        context.register(LockingApplication.class, Rest.class);
        context.refresh();
        return context;
    }

    @Test
    void pages_save_under_their_lock() {
        try (var context = started()) {
            OrderPages pages = context.getBean(OrderPages.class);
            LockId lockId = pages.open(System.nanoTime(), "kim");

            pages.save(lockId, new Order(1));

            assertThat(context.getBean(Orders.class).saved).hasSize(1);
            assertThatThrownBy(() -> context.getBean(LockManager.class).checkLock(lockId))
                    .hasMessageContaining("not held");
        }
    }

    @Test
    void methods_run_under_their_locks() {
        try (var context = started()) {
            OrderService service = context.getBean(OrderService.class);
            service.ship(1);
            service.save(new Order(2));
            service.report();
            assertThat(service.reserve("tea")).contains(1);
            assertThat(service.load(3).block(Duration.ofSeconds(30))).isEqualTo(new Order(3));
        }
    }

    @Test
    void template_runs_code_under_a_lock() {
        try (var context = started()) {
            LockTemplate template = context.getBean(LockTemplate.class);
            Orders orders = context.getBean(Orders.class);
            long id = System.nanoTime();

            template.run("order:" + id, Wait.upTo(Duration.ofSeconds(2)), () -> orders.ship(id));
            boolean done = template.lasting(Duration.ofSeconds(10))
                    .tryRun(LockName.of("order", "" + id), Wait.none(), () -> orders.ship(id));
            int left = template.kind(Locked.Kind.SESSION).call("stock", Wait.none(), () -> 7);

            assertThat(done).isTrue();
            assertThat(left).isEqualTo(7);
            try (Lease taken = context.getBean(Locks.class)
                    .lease("order:" + id)
                    .tryAcquire()
                    .orElseThrow()) {
                assertThatThrownBy(() -> template.run(taken.name(), Wait.none(), () -> orders.ship(id)))
                        .isInstanceOf(CannotAcquireLockException.class);
            }
        }
    }

    @Configuration
    static class Settings {

        @Bean
        static LockingSettings lockingSettings() {
            return LockingSettings.defaults()
                    .withOrder(99) // before transactions at 100
                    .warningOnSelfInvocation()
                    .following("ordersDataSource");
        }
    }

    @Test
    void settings_are_a_bean() {
        assertThat(Settings.lockingSettings()).isEqualTo(new LockingSettings(99, false, "ordersDataSource"));
    }

    static class TenantLocks implements AutoCloseable {

        private final Map<String, DataSource> tenants; // what the routing data source chooses from
        private final Map<String, Locks> locks = new ConcurrentHashMap<>();

        TenantLocks(Map<String, DataSource> tenants) {
            this.tenants = tenants;
        }

        Locks of(String tenant) {
            return locks.computeIfAbsent(tenant, each -> Locks.create(tenants.get(each)));
        }

        @Override
        public void close() {
            locks.values().forEach(Locks::close);
        }
    }

    private static DataSource database() {
        return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    }

    @Test
    void every_tenant_has_locks_of_its_own() {
        try (TenantLocks locks = new TenantLocks(Map.of("kim", database(), "lee", database()))) {
            try (Lease mine = locks.of("kim").lease("report").tryAcquire().orElseThrow();
                    Lease theirs = locks.of("lee").lease("report").tryAcquire().orElseThrow()) {
                mine.renew();
                theirs.renew();
                assertThat(locks.of("kim").lease("report").tryAcquire()).isEmpty();
            }
        }
    }
}
