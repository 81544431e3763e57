// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockListener;
import io.bitjang.spring.TransactionalLockManager;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class BitjangAutoConfigurationTest {

    @Test
    void an_application_with_nothing_configured_has_working_locks() {
        Apps.plain().run(context -> {
            LockManager manager = context.getBean(LockManager.class);
            LockId mine = manager.tryLock("order", "42", "ann");
            assertThatThrownBy(() -> manager.tryLock("order", "42", "bob")).isInstanceOf(AlreadyLockedException.class);
            manager.releaseLock(mine);
            assertThat(context.getBean(Locks.class).lease("job").tryRun(() -> {}))
                    .isTrue();
            assertThat(context.getBean(Locks.class).session("short").tryRun(() -> {}))
                    .isTrue();
        });
    }

    @Test
    void the_lock_manager_follows_the_transactions_of_the_application() {
        Apps.plain().run(context -> {
            LockManager manager = context.getBean(LockManager.class);
            LockId mine = manager.tryLock("order", "42");
            new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(status -> {
                manager.releaseLock(mine);
                status.setRollbackOnly();
            });
            assertThat(manager.checkLock(mine).held()).isTrue();
        });
    }

    @Test
    void without_a_data_source_there_is_nothing() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(BitjangAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Locks.class));
    }

    @Test
    void it_can_be_switched_off() {
        Apps.plain()
                .withPropertyValues("bitjang.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(Locks.class)
                        .doesNotHaveBean(LockManager.class)
                        .doesNotHaveBean(LockMeters.class));
    }

    @Test
    void an_application_without_hikari_micrometer_and_jpa_starts() {
        Apps.plain()
                .withClassLoader(new FilteredClassLoader(
                        "com.zaxxer.hikari", "io.micrometer", "jakarta.persistence", "io.bitjang.jpa"))
                .run(context -> assertThat(context.getBean(LockManager.class))
                        .isSameAs(context.getBean(TransactionalLockManager.class)));
    }

    @Test
    void beans_of_the_application_take_their_place() {
        Apps.plain().withUserConfiguration(OwnLocks.class).run(context -> {
            assertThat(context).hasSingleBean(Locks.class).doesNotHaveBean(LockConnections.class);
            assertThat(context.getBean(Locks.class)).isSameAs(context.getBean("mine"));
            assertThat(context.getBean(LockManager.class)).isSameAs(context.getBean("myManager"));
        });
    }

    @Test
    void listeners_hear_of_every_event() {
        Apps.plain().withUserConfiguration(Listening.class).run(context -> {
            context.getBean(LockManager.class).tryLock("order", "42");
            assertThat(context.getBean(Listening.class).heard)
                    .extracting(LockEvent::kind)
                    .containsExactly(LockEvent.Kind.ACQUIRED);
        });
    }

    @Test
    void the_owner_names_application_process_and_host() {
        long pid = ProcessHandle.current().pid();
        Apps.plain()
                .withPropertyValues("spring.application.name=shop")
                .run(context ->
                        assertThat(ownerIn(context.getBean(Locks.class))).startsWith("shop:" + pid + "@"));
        Apps.plain()
                .run(context ->
                        assertThat(ownerIn(context.getBean(Locks.class))).startsWith(pid + "@"));
        Apps.plain()
                .withPropertyValues("spring.application.name=shop", "bitjang.owner=me")
                .run(context ->
                        assertThat(ownerIn(context.getBean(Locks.class))).isEqualTo("me"));
    }

    @Test
    void a_long_application_name_leaves_room_for_the_process() {
        assertThat(Owners.of(null, "x".repeat(300)))
                .hasSize(255)
                .contains(":" + ProcessHandle.current().pid() + "@");
    }

    @Test
    void the_settings_reach_the_locks() {
        Apps.plain()
                .withPropertyValues(
                        "bitjang.table-prefix=my_", "bitjang.offline-lock=7m", "bitjang.audit=true", "bitjang.lease=9s")
                .run(context -> {
                    LockManager manager = context.getBean(LockManager.class);
                    assertThat(manager.checkLock(manager.tryLock("order", "42"))
                                    .remaining()
                                    .toSeconds())
                            .isBetween(400L, 420L);
                    JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
                    assertThat(jdbc.queryForObject("SELECT count(*) FROM my_locks", Integer.class))
                            .isEqualTo(1);
                    Locks locks = context.getBean(Locks.class);
                    long fence = locks.admin()
                            .find(LockName.of("order", "42"))
                            .orElseThrow()
                            .fence();
                    locks.admin().forceRelease(LockName.of("order", "42"), fence, "ops", "test");
                    assertThat(locks.admin().audit(10)).hasSize(1);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "bitjang.lease=-1, bitjang.lease must be longer than zero",
        "bitjang.lease=0, bitjang.lease must be longer than zero",
        "bitjang.lease=soon, bitjang.lease",
        "bitjang.offline-lock=-5s, bitjang.offline-lock must be longer than zero",
        "bitjang.pool.size=1, bitjang.pool.size must be 5 or more",
        "bitjang.session.waiters=9, bitjang.session.waiters must be 1 to 8",
        "bitjang.session.max-locks=0, bitjang.session.max-locks must be 1 or more",
        "bitjang.edit-locks.lease=5s, bitjang.edit-locks.leave (PT10S) must not be longer than bitjang.edit-locks.lease (PT5S)",
        "bitjang.metrics.counts=-1s, bitjang.metrics.counts must not be negative",
        "bitjang.health.timeout=0, bitjang.health.timeout must be longer than zero",
        "bitjang.schema=maybe, bitjang.schema",
        "bitjang.table-prefix=a b, a b"
    })
    void a_wrong_setting_is_named_at_start_up(String property, String named) {
        Apps.plain()
                .withPropertyValues(property)
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining(named));
    }

    private static String ownerIn(Locks locks) {
        LockId id = locks.manager().tryLock("who", "am-i");
        String owner = locks.manager().checkLock(id).owner();
        locks.manager().releaseLock(id);
        return owner;
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnLocks {

        @Bean
        Locks mine(DataSource source) {
            return Locks.create(source);
        }

        @Bean
        LockManager myManager(Locks mine) {
            return mine.manager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Listening implements LockListener {

        final List<LockEvent> heard = new CopyOnWriteArrayList<>();

        @Override
        public void on(LockEvent event) {
            heard.add(event);
        }
    }
}
