// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The privileges that docs/spring-boot.md names are enough, and each is needed. */
class LeastPrivilegesTest {

    private static final List<String> PRIVILEGES = List.of(
            "SELECT ON least_schema_version",
            "SELECT ON least_locks",
            "INSERT ON least_locks",
            "UPDATE ON least_locks",
            "DELETE ON least_locks",
            "SELECT ON least_audit",
            "INSERT ON least_audit");

    static List<String> servers() {
        return TestDatabases.selected().stream()
                .filter(name -> !name.equals("h2"))
                .toList();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("servers")
    void they_are_enough_for_everything(String name) {
        TestDatabase database = prepared(name);
        PRIVILEGES.forEach(each -> database.execute("GRANT " + each + " TO " + user(name)));
        Apps.on(database)
                .withPropertyValues(
                        "spring.datasource.username=least",
                        "spring.datasource.password=least",
                        "bitjang.table-prefix=least_",
                        "bitjang.health.timeout=30s", // it is up on a busy machine, too
                        "bitjang.audit=true")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(LocksHealthIndicator.class)
                                    .health()
                                    .getStatus())
                            .isEqualTo(org.springframework.boot.health.contributor.Status.UP);
                    exercise(
                            context.getBean(Locks.class),
                            context.getBean(LockManager.class),
                            new TransactionTemplate(context.getBean(PlatformTransactionManager.class)));
                });
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("servers")
    void each_of_them_is_needed(String name) {
        TestDatabase database = prepared(name);
        List<String> notNeeded = new ArrayList<>();
        for (String missing : PRIVILEGES) {
            PRIVILEGES.forEach(each -> database.execute("GRANT " + each + " TO " + user(name)));
            database.execute("REVOKE " + missing + " FROM " + user(name));
            database.execute("DELETE FROM least_locks");
            try (HikariDataSource pool = new HikariDataSource()) {
                pool.setJdbcUrl(database.jdbcUrl());
                pool.setUsername("least");
                pool.setPassword("least");
                try (Locks locks = Locks.builder(pool)
                        .schema(Locks.Schema.VALIDATE)
                        .tablePrefix("least_")
                        .audit(true)
                        .build()) {
                    forced(locks);
                    swept(locks, database);
                    notNeeded.add(missing);
                } catch (LockException expected) {
                    assertThat(expected).hasStackTraceContaining("least_");
                }
            }
        }
        assertThat(notNeeded).isEmpty();
    }

    private static TestDatabase prepared(String name) {
        TestDatabase database = TestDatabases.byName(name);
        Locks.builder(database.dataSource()).tablePrefix("least_").build().close();
        database.execute(
                name.equals("postgresql")
                        ? """
                        DO $$ BEGIN
                          IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'least') THEN
                            CREATE ROLE least LOGIN PASSWORD 'least';
                          END IF;
                        END $$"""
                        : "CREATE USER IF NOT EXISTS " + user(name) + " IDENTIFIED "
                                + (name.equals("mysql") ? "WITH mysql_native_password " : "") + "BY 'least'");
        database.execute("DELETE FROM least_locks");
        return database;
    }

    private static String user(String name) {
        return name.equals("postgresql") ? "least" : "'least'@'%'";
    }

    /** All kinds of locks, with contention, and all of the operator's work. */
    private static void exercise(Locks locks, LockManager manager, TransactionTemplate transaction) throws Exception {
        try (Lease first = locks.lease("least").tryAcquire().orElseThrow()) {
            CompletableFuture<Lease> waiting = locks.lease("least")
                    .acquireAsync(Wait.upTo(Duration.ofSeconds(10)))
                    .toCompletableFuture();
            assertThat(waiting).isNotDone();
            first.close();
            waiting.get(10, TimeUnit.SECONDS).close();
        }
        locks.leaseAll("least-1", "least-2").run(Wait.none(), () -> {});
        locks.session("least").run(Wait.upTo(Duration.ofSeconds(10)), () -> {});
        assertThat(locks.distLock().tryLock("least", "me", Duration.ofMinutes(1)))
                .isTrue();
        locks.distLock().unlock("least", "me");
        LockId mine = manager.tryLock("order", "1");
        manager.renew(mine, Duration.ofMinutes(9));
        LockId taken = manager.takeOver(manager.checkLock(mine), "bob", Duration.ofMinutes(1), null, "test")
                .orElseThrow();
        transaction.executeWithoutResult(status -> {
            manager.checkLock(taken);
            manager.releaseLock(taken);
        });
        assertThatThrownBy(() -> manager.checkLock(taken)).isInstanceOf(LockException.class);
        forced(locks);
        assertThat(locks.admin().counts().total()).isPositive();
        locks.admin().sweep(Duration.ofHours(1));
    }

    private static void forced(Locks locks) {
        LockId mine = locks.manager().tryLock("forced", "1");
        locks.admin().forceRelease(mine.name(), mine.fence(), "ops", "test");
        assertThat(locks.admin().audit(1)).hasSize(1);
    }

    private static void swept(Locks locks, TestDatabase database) {
        database.execute("UPDATE least_locks SET expires_at = 1");
        assertThat(locks.admin().sweep(Duration.ofHours(1))).isPositive();
    }
}
