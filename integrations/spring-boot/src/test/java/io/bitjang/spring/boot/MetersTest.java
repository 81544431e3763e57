// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.admin.LockCounts;
import io.bitjang.spi.LockEvent;
import io.bitjang.spring.LockTemplate;
import io.bitjang.spring.Locked;
import io.bitjang.spring.web.EditLocks;
import io.bitjang.testkit.CountingDataSource;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

class MetersTest {

    @Test
    void what_happens_to_the_locks_is_counted() {
        Apps.plain().withBean(SimpleMeterRegistry.class).run(context -> {
            LockManager manager = context.getBean(LockManager.class);
            LockId mine = manager.tryLock("order", "42", "ann");
            assertThatThrownBy(() -> manager.tryLock("order", "42", "bob")).isInstanceOf(AlreadyLockedException.class);
            manager.releaseLock(mine);
            LockId again = manager.tryLock("order", "42", "bob");
            context.getBean(Locks.class).admin().forceRelease(again.name(), again.fence(), "ops", "test");
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(count(registry, "acquired")).isEqualTo(2);
            assertThat(count(registry, "refused")).isEqualTo(1);
            assertThat(count(registry, "released")).isEqualTo(1);
            assertThat(count(registry, "force_released")).isEqualTo(1);
            assertThat(count(registry, "lost")).isZero();
            assertThat(registry.get("bitjang.lock.hold").timer().count()).isEqualTo(2);
        });
    }

    @Test
    void what_is_released_with_a_transaction_is_counted_when_it_has_committed() {
        Apps.plain().withBean(SimpleMeterRegistry.class).run(context -> {
            LockManager manager = context.getBean(LockManager.class);
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            TransactionTemplate transaction =
                    new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            TransactionTemplate nested = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
            LockId id = manager.tryLock("order", "42");

            transaction.executeWithoutResult(status -> {
                manager.releaseLock(id);
                status.setRollbackOnly();
            });
            transaction.executeWithoutResult(outer -> nested.executeWithoutResult(status -> {
                manager.releaseLock(id);
                status.setRollbackOnly();
            }));
            assertThat(count(registry, "released")).isZero();
            assertThat(manager.checkLock(id).held()).isTrue();

            transaction.executeWithoutResult(outer -> {
                manager.releaseLock(id);
                assertThat(count(registry, "released")).isZero();
                nested.executeWithoutResult(TransactionStatus::setRollbackOnly);
            });
            assertThat(count(registry, "released")).isEqualTo(1);
            assertThat(registry.get("bitjang.lock.hold").timer().count()).isEqualTo(1);
        });
    }

    @Test
    void save_through_a_guarded_handler_is_counted_as_a_release() {
        try (Shop shop = Shop.open()) {
            LockId id = shop.bean(EditLocks.class)
                    .open("order", "42", () -> "ann", "tab-0001", null)
                    .id();
            HttpResponse<String> saved = shop.send(shop.request("/orders/42")
                    .header("Lock-Token", id.value())
                    .POST(HttpRequest.BodyPublishers.noBody()));
            assertThat(saved.body()).isEqualTo("saved 42");
            MeterRegistry registry = shop.bean(MeterRegistry.class);
            assertThat(count(registry, "released")).isEqualTo(1);
            assertThat(registry.get("bitjang.lock.hold").timer().count()).isEqualTo(1);
        }
    }

    @Test
    void what_to_alarm_on_is_counted() {
        JdbcDataSource driver = new JdbcDataSource();
        driver.setURL(Apps.h2());
        CountingDataSource database = new CountingDataSource(driver);
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(database);
        Apps.plain()
                .withBean(SimpleMeterRegistry.class)
                .withBean(DataSource.class, () -> pool)
                .withPropertyValues("bitjang.lease=10s")
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    Locks locks = context.getBean(Locks.class);

                    Lease taken = locks.lease("taken").tryAcquire().orElseThrow();
                    locks.admin().forceRelease(LockName.of("taken"), taken.fence(), "ops", "test");
                    untilCounted(registry, "lost");
                    assertThat(registry.get("bitjang.lock.hold").timer().count())
                            .isEqualTo(1);

                    try (Lease busy = locks.lease("busy").tryAcquire().orElseThrow();
                            Connection other = driver.getConnection()) {
                        other.setAutoCommit(false);
                        other.createStatement()
                                .executeQuery("SELECT * FROM bitjang_locks WHERE id = 'busy' FOR UPDATE");
                        untilCounted(registry, "at_risk");
                        other.rollback();
                    }

                    Lease silent = locks.lease("silent").tryAcquire().orElseThrow();
                    database.onStatement(sql -> {
                        throw new SQLException("the database does not answer", "08006");
                    });
                    untilCounted(registry, "unknown");
                    silent.close();
                    untilCounted(registry, "release_failed");
                    database.clearHooks();

                    assertThat(count(registry, "lost")).isEqualTo(1);
                });
    }

    private static void untilCounted(MeterRegistry registry, String event) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (count(registry, event) == 0) {
            assertThat(System.nanoTime() - until)
                    .as("waited for 30 seconds for " + event)
                    .isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        assertThat(count(registry, event)).as(event).isEqualTo(1);
    }

    @Test
    void the_hold_of_leases_and_session_locks_is_timed() {
        Apps.plain().withBean(SimpleMeterRegistry.class).run(context -> {
            Locks locks = context.getBean(Locks.class);
            locks.lease("same").tryRun(() -> locks.session("same").tryRun(() -> {}));
            assertThat(context.getBean(MeterRegistry.class)
                            .get("bitjang.lock.hold")
                            .timer()
                            .count())
                    .isEqualTo(2);
        });
    }

    @Test
    void locks_that_are_never_given_back_do_not_fill_the_memory() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        LockMeters meters = new LockMeters(registry);
        for (int i = 0; i < 20_000; i++) {
            meters.on(new LockEvent(LockEvent.Kind.ACQUIRED, LockName.of("n" + i), 1, "me", null));
        }
        for (int i = 0; i < 20_000; i++) {
            meters.on(new LockEvent(LockEvent.Kind.RELEASED, LockName.of("n" + i), 1, "me", null));
        }
        assertThat(registry.get("bitjang.lock.hold").timer().count()).isEqualTo(10_000);
    }

    @Test
    void no_meter_has_the_name_of_a_lock() {
        Apps.plain().withBean(SimpleMeterRegistry.class).run(context -> {
            context.getBean(LockManager.class).tryLock("secret-type", "secret-id");
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(registry.getMeters())
                    .isNotEmpty()
                    .map(Meter::getId)
                    .map(Object::toString)
                    .noneMatch(id -> id.contains("secret"));
        });
    }

    @Test
    void the_gauge_shows_the_locks_of_all_processes_without_waiting_for_the_database() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        CountDownLatch mayCount = new CountDownLatch(1);
        CountDownLatch counted = new CountDownLatch(1);
        AtomicInteger times = new AtomicInteger();
        new LockCountGauges(
                        () -> {
                            times.incrementAndGet();
                            await(mayCount);
                            counted.countDown();
                            return new LockCounts(3, 2, 1);
                        },
                        Duration.ofHours(1))
                .bindTo(registry);
        assertThat(gauge(registry, "held")).isNaN(); // and came back although the count is not there
        mayCount.countDown();
        await(counted);
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (Double.isNaN(gauge(registry, "held")) && System.nanoTime() < until) {
            Thread.onSpinWait();
        }
        assertThat(gauge(registry, "held")).isEqualTo(3);
        assertThat(gauge(registry, "expired")).isEqualTo(2);
        assertThat(gauge(registry, "free")).isEqualTo(1);
        assertThat(times).hasValue(1);
    }

    @Test
    void the_gauge_has_a_number_when_it_is_first_read() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Thread reader = Thread.currentThread();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        new LockCountGauges(
                        () -> {
                            while (reader.getState() == Thread.State.RUNNABLE && System.nanoTime() < until) {
                                Thread.onSpinWait(); // until it waits for the count
                            }
                            return new LockCounts(3, 2, 1);
                        },
                        Duration.ofHours(1))
                .bindTo(registry);
        assertThat(gauge(registry, "held")).isEqualTo(3);
        assertThat(gauge(registry, "free")).isEqualTo(1);
    }

    @Test
    void the_gauge_counts_the_table() {
        Apps.plain()
                .withBean(SimpleMeterRegistry.class)
                .withPropertyValues("bitjang.metrics.counts=1ms")
                .run(context -> {
                    context.getBean(LockManager.class).tryLock("order", "42");
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    context.getBean(LockCountGauges.class).bindTo(registry);
                    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
                    while (gauge(registry, "held") != 1 && System.nanoTime() < until) {
                        Thread.onSpinWait();
                    }
                    assertThat(gauge(registry, "held")).isEqualTo(1);
                });
    }

    @Test
    void taking_a_lock_is_observed_with_its_name_as_a_high_cardinality_value() {
        Apps.plain()
                .withBean(TestObservationRegistry.class, TestObservationRegistry::create)
                .run(context -> {
                    LockManager manager = context.getBean(LockManager.class);
                    manager.tryLock("order", "42");
                    assertThatThrownBy(() -> manager.tryLock("order", "42")).isInstanceOf(AlreadyLockedException.class);
                    TestObservationRegistryAssert observed =
                            TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class));
                    observed.hasNumberOfObservationsWithNameEqualTo("bitjang.acquire", 2);
                    observed.hasAnObservation(each -> each.hasHighCardinalityKeyValue("bitjang.lock", "order/42")
                            .hasLowCardinalityKeyValue("bitjang.outcome", "acquired")
                            .hasLowCardinalityKeyValue("bitjang.operation", "tryLock"));
                    observed.hasAnObservation(each -> each.hasLowCardinalityKeyValue("bitjang.outcome", "refused")
                            .doesNotHaveError());
                });
    }

    @Test
    void so_is_what_a_template_or_a_locked_method_takes() {
        Apps.plain()
                .withBean(TestObservationRegistry.class, TestObservationRegistry::create)
                .run(context -> {
                    LockTemplate template = context.getBean(LockTemplate.class);
                    template.run("report", Wait.none(), () -> {});
                    template.kind(Locked.Kind.SESSION).run("report", Wait.none(), () -> {});
                    TestObservationRegistryAssert observed =
                            TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class));
                    observed.hasNumberOfObservationsWithNameEqualTo("bitjang.acquire", 2);
                    observed.hasAnObservation(each -> each.hasHighCardinalityKeyValue("bitjang.lock", "lock/report")
                            .hasLowCardinalityKeyValue("bitjang.outcome", "acquired")
                            .hasLowCardinalityKeyValue("bitjang.operation", "lease"));
                    observed.hasAnObservation(each -> each.hasLowCardinalityKeyValue("bitjang.operation", "session"));
                });
    }

    @Test
    void meters_can_be_switched_off() {
        Apps.plain()
                .withBean(SimpleMeterRegistry.class)
                .withBean(TestObservationRegistry.class, TestObservationRegistry::create)
                .withPropertyValues("bitjang.metrics.enabled=false")
                .run(context -> {
                    context.getBean(LockManager.class).tryLock("order", "42");
                    assertThat(context.getBean(MeterRegistry.class).getMeters()).isEmpty();
                    TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                            .doesNotHaveAnyObservation();
                });
    }

    private static double count(MeterRegistry registry, String event) {
        return registry.get("bitjang.lock.events").tag("event", event).counter().count();
    }

    private static double gauge(MeterRegistry registry, String state) {
        return registry.get("bitjang.locks").tag("state", state).gauge().value();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
