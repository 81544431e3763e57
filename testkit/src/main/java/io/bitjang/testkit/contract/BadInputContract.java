// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What can't be is refused with a clear message, and nothing has changed. */
public abstract class BadInputContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final LockName ORDER = LockName.of("order", "42");

    /** For the databases. */
    protected BadInputContract() {}

    @Test
    void a_duration_is_longer_than_zero_and_at_most_ten_years() {
        LockId held = locks.manager().tryLock("order", "42", "kim", MINUTE);
        Lease lease = locks.lease("job").lasting(MINUTE).tryAcquire().orElseThrow();
        LockData before = data(ORDER);
        LockData leaseBefore = data(LockName.of("job"));
        Map<Duration, String> wrong = Map.of(
                Duration.ZERO,
                "longer than zero, not 0 s",
                Duration.ofNanos(-1),
                "longer than zero, not -1 ns",
                Duration.ofSeconds(Long.MIN_VALUE),
                "longer than zero, not -106751991167300 d",
                Duration.ofDays(3660),
                "10 years: 3660 d",
                Duration.ofSeconds(Long.MAX_VALUE),
                "10 years: 106751991167300 d");
        wrong.forEach((duration, problem) -> {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> locks.manager().tryLock("order", "43", "kim", duration),
                    () -> locks.manager().tryLock("order", "43", "kim", duration, "note"),
                    () -> locks.manager().extendLockExpiration(held, duration),
                    () -> locks.manager().renew(held, duration),
                    () -> locks.manager().leave(held, duration),
                    () -> locks.distLock().tryLock("batch", "kim", duration),
                    () -> locks.lease("x").lasting(duration),
                    () -> locks.lease("x").maxHold(duration),
                    () -> locks.lease("x").notFreeBefore(duration),
                    () -> lease.ensure(duration),
                    () -> locks.admin().sweep(duration),
                    () -> builder().leaseDuration(duration),
                    () -> builder().offlineDuration(duration))) {
                assertThatExceptionOfType(IllegalArgumentException.class)
                        .isThrownBy(call)
                        .withMessageContaining(problem);
            }
        });

        assertThat(locks.admin().counts()).isEqualTo(new LockCounts(2, 0, 0));
        assertSame(before, data(ORDER));
        assertSame(leaseBefore, data(LockName.of("job")));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void a_wait_is_not_negative() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Wait.upTo(Duration.ofMillis(-1)))
                .withMessageContaining("negative");
        assertThatExceptionOfType(NullPointerException.class).isThrownBy(() -> Wait.upTo(nothing()));
    }

    @Test
    void a_very_long_wait_is_a_wait() {
        try (Lease lease = locks.lease("job").acquire(Wait.upTo(Duration.ofSeconds(Long.MAX_VALUE)))) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void null_is_refused_everywhere() throws Exception {
        LockId held = locks.manager().tryLock("order", "42", "kim", MINUTE);
        Lease lease = locks.lease("job").tryAcquire().orElseThrow();
        LockCounts before = locks.admin().counts();
        Connection connection = transaction();
        List<ThrowingCallable> calls = new ArrayList<>(List.of(
                () -> Locks.create(nothing()),
                () -> builder().owner(nothing()),
                () -> builder().leaseDuration(nothing()),
                () -> builder().offlineDuration(nothing()),
                () -> builder().schema(nothing()),
                () -> builder().tablePrefix(nothing()),
                () -> builder().schemaName(nothing()),
                () -> builder().listener(nothing()),
                () -> builder().sessionDataSource(nothing()),
                () -> locks.session(BadInputContract.<String>nothing()),
                () -> locks.session(BadInputContract.<LockName>nothing()),
                () -> locks.session("a").acquire(nothing()),
                () -> locks.session("a").run(Wait.none(), nothing()),
                () -> locks.session("a").call(Wait.none(), nothing()),
                () -> locks.session("a").tryRun(nothing()),
                () -> locks.session("a").executeWithLock(nothing(), () -> "never"),
                () -> locks.session("a").executeWithLock(MINUTE, nothing()),
                () -> locks.session("a").callInTransaction(nothing(), Wait.none(), () -> "never"),
                () -> locks.session("a").callInTransaction(connection, nothing(), () -> "never"),
                () -> locks.session("a").callInTransaction(connection, Wait.none(), nothing()),
                () -> new LockId(nothing()),
                () -> LockName.of(nothing()),
                () -> LockName.of("type", nothing()),
                () -> locks.manager().tryLock(nothing(), "42"),
                () -> locks.manager().tryLock("order", nothing()),
                () -> locks.manager().tryLock("order", "43", nothing()),
                () -> locks.manager().tryLock("order", "43", "kim", nothing()),
                () -> locks.manager().checkLock(nothing()),
                () -> locks.manager().checkLock(nothing(), held),
                () -> locks.manager().checkLock(connection, nothing()),
                () -> locks.manager().releaseLock(nothing()),
                () -> locks.manager().releaseLock(nothing(), held),
                () -> locks.manager().releaseLock(connection, nothing()),
                () -> locks.manager().extendLockExpiration(nothing(), MINUTE),
                () -> locks.manager().extendLockExpiration(held, nothing()),
                () -> locks.manager().renew(nothing(), MINUTE),
                () -> locks.manager().renew(held, nothing()),
                () -> locks.manager().leave(nothing(), MINUTE),
                () -> locks.manager().leave(held, nothing())));
        calls.addAll(List.of(
                () -> locks.distLock().tryLock(nothing(), "kim", MINUTE),
                () -> locks.distLock().tryLock("batch", nothing(), MINUTE),
                () -> locks.distLock().tryLock("batch", "kim", nothing()),
                () -> locks.distLock().unlock(nothing(), "kim"),
                () -> locks.distLock().unlock("batch", nothing()),
                () -> locks.lease(BadInputContract.<String>nothing()),
                () -> locks.lease(BadInputContract.<LockName>nothing()),
                () -> locks.leaseAll("x", nothing()),
                () -> locks.leaseAll(Arrays.asList(ORDER, null)),
                () -> locks.lease("x").lasting(nothing()),
                () -> locks.lease("x").owner(nothing()),
                () -> locks.lease("x").note(nothing()),
                () -> locks.lease("x").maxHold(nothing()),
                () -> locks.lease("x").notFreeBefore(nothing()),
                () -> locks.lease("x").acquire(nothing()),
                () -> locks.lease("x").acquireAsync(nothing()),
                () -> locks.lease("x").tryRun(nothing()),
                () -> locks.lease("x").run(Wait.none(), nothing()),
                () -> locks.lease("x").call(Wait.none(), nothing()),
                () -> lease.ensure(nothing()),
                () -> lease.guard(nothing()),
                () -> lease.onLost(nothing()),
                () -> locks.admin().list(nothing()),
                () -> locks.admin().find(nothing()),
                () -> locks.admin().forceRelease(nothing(), 1, "ops", "why"),
                () -> locks.admin().forceRelease(ORDER, held.fence(), nothing(), "why"),
                () -> locks.admin().forceRelease(ORDER, held.fence(), "ops", nothing()),
                () -> locks.admin().sweep(nothing()),
                () -> LockFilter.all().in(nothing())));

        for (int i = 0; i < calls.size(); i++) {
            assertThatExceptionOfType(NullPointerException.class)
                    .as("call %d", i)
                    .isThrownBy(calls.get(i))
                    .satisfies(refusal -> assertThat(refusal.getMessage()).isNotBlank());
        }
        assertThat(locks.admin().counts()).isEqualTo(before);
        assertThat(lease.isHeld()).isTrue();
        assertThatNoException().isThrownBy(() -> locks.manager().checkLock(held));
    }

    @Test
    void no_locks_at_all_and_too_many_cannot_be_taken_together() {
        List<LockName> tooMany =
                IntStream.range(0, 501).mapToObj(i -> LockName.of("n" + i)).toList();

        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> locks.leaseAll())
                .withMessageContaining("not 0");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> locks.leaseAll(List.of()))
                .withMessageContaining("not 0");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> locks.leaseAll(tooMany))
                .withMessageContainingAll("500", "not 501");
        assertThat(locks.admin().counts().total()).isZero();
    }

    @Test
    void the_same_name_twice_is_one_lock() {
        try (Lease lease = locks.leaseAll("a", "b", "a").acquire(Wait.none())) {
            assertThat(lease.names()).containsExactly(LockName.of("a"), LockName.of("b"));
        }
    }

    @Test
    void what_is_no_identifier_is_no_prefix_and_no_schema() {
        for (String text : List.of(
                "", " ", "drop table; --", "1abc", "a-b", "a.b", "a\"b", "a`b", "é", "x".repeat(41), "a\n", "a b")) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Locks.builder(pool).tablePrefix(text).build())
                    .withMessageContainingAll("table prefix", "identifier");
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Locks.builder(pool).schemaName(text).build())
                    .withMessageContainingAll("schema", "identifier");
        }
    }

    @Test
    void an_unknown_database_is_named_and_not_guessed() throws Exception {
        for (String product : List.of("Oracle", "Microsoft SQL Server", "HSQL Database Engine", "Postgres-XY", "")) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Locks.create(sayingItIs(product, "19.0")))
                    .withMessageContainingAll("'" + product + "'", "PostgreSQL", "MySQL", "MariaDB", "H2");
        }
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Locks.create(sayingItIs("MySQL", "5.7.44")))
                .withMessageContainingAll("MySQL 8", "5.7.44");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Locks.create(sayingItIs("H2", "1.4.200 (2019-10-14)")))
                .withMessageContainingAll("H2 2", "1.4.200");
    }

    @Test
    void a_page_has_one_to_a_thousand_locks() {
        for (int limit : new int[] {0, -1, 1001, Integer.MAX_VALUE}) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> LockFilter.all().limit(limit))
                    .withMessageContaining("not " + limit);
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> locks.admin().audit(limit))
                    .withMessageContaining("not " + limit);
        }
    }

    @Test
    void rows_of_the_last_hour_are_not_swept() {
        locks.manager().releaseLock(locks.manager().tryLock("order", "42"));

        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> locks.admin().sweep(Duration.ofMinutes(59)))
                .withMessageContainingAll("less than 1 h", "59 min");
        assertThat(locks.admin().sweep(Duration.ofHours(1))).isZero();
        assertThat(locks.admin().counts().free()).isEqualTo(1);
    }

    @Test
    void a_guard_on_a_connection_that_commits_by_itself_is_refused_and_harms_nothing() throws Exception {
        LockId held = locks.manager().tryLock("order", "42", "kim", MINUTE);
        Lease lease = locks.lease("job").tryAcquire().orElseThrow();
        LockData before = data(ORDER);
        try (Connection connection = database.dataSource().getConnection()) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> locks.manager().checkLock(connection, held),
                    () -> locks.manager().releaseLock(connection, held),
                    () -> lease.guard(connection))) {
                assertThatExceptionOfType(IllegalStateException.class)
                        .isThrownBy(call)
                        .withMessageContaining("auto-commit");
            }
            assertThat(connection.getAutoCommit()).isTrue();
        }

        assertSame(before, data(ORDER));
        assertThat(lease.isHeld()).isTrue();
        assertThatNoException().isThrownBy(() -> locks.manager().checkLock(held));
    }

    private LockData data(LockName name) {
        return locks.admin().find(name).orElseThrow();
    }

    private static void assertSame(LockData expected, LockData actual) {
        assertThat(actual)
                .usingRecursiveComparison()
                .ignoringFields("remaining")
                .isEqualTo(expected);
    }

    /** A null that the compiler's checks don't see. */
    @SuppressWarnings("TypeParameterUnusedInFormals")
    private static <T> T nothing() {
        return new AtomicReference<T>().get();
    }

    /** A data source whose driver says that it is another product. */
    private static DataSource sayingItIs(String product, String version) {
        DatabaseMetaData metaData = answering(
                DatabaseMetaData.class,
                Map.of("getDatabaseProductName", product, "getDatabaseProductVersion", version));
        Connection connection = answering(Connection.class, Map.of("getMetaData", metaData, "getAutoCommit", true));
        return answering(DataSource.class, Map.of("getConnection", connection));
    }

    private static <T> T answering(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> answers.get(method.getName())));
    }
}
