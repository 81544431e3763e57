// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spi.LockEvent.Kind;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A guard inside the business transaction. */
class GuardTest extends OnH2 {

    private static final LockName ORDER = LockName.of("order", "42");

    private Connection mine;

    @BeforeEach
    void begin() throws SQLException {
        execute("CREATE TABLE account (balance INT)");
        execute("INSERT INTO account VALUES (100)");
        mine = transaction();
    }

    private void pay() throws SQLException {
        try (Statement statement = mine.createStatement()) {
            statement.executeUpdate("UPDATE account SET balance = 0");
        }
    }

    private int balance() throws SQLException {
        try (Connection connection = transaction();
                var row = connection.createStatement().executeQuery("SELECT balance FROM account")) {
            row.next();
            return row.getInt(1);
        }
    }

    private LockId kim() {
        return node.manager().tryLock("order", "42", "kim", LONG);
    }

    @Test
    void nobody_takes_a_guarded_lock_even_after_it_has_expired() throws Exception {
        LockId id = kim();
        expire(ORDER);
        node.manager().checkLock(mine, id);

        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        assertThat(other.leaseAll(List.of(ORDER, LockName.of("b"))).tryAcquire())
                .isEmpty();
        assertThatThrownBy(() -> other.manager().tryLock("order", "42", "lee"))
                .isInstanceOf(AlreadyLockedException.class);

        pay();
        mine.commit();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
        assertThat(balance()).isZero();
    }

    @Test
    void nobody_takes_a_guarded_lock_that_its_own_node_believes_to_be_free() throws Exception {
        other.lease(ORDER).acquire(Wait.none()).close();
        LockId id = kim();
        expire(ORDER);
        node.manager().checkLock(mine, id);

        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        mine.rollback();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
    }

    @Test
    void lost_lock_refuses_the_guard_and_even_a_careless_commit_writes_nothing() throws Exception {
        LockId id = kim();
        expire(ORDER);
        // in the name of the same owner: the owner gives no right
        other.manager().tryLock("order", "42", "kim");
        pay();

        assertThatThrownBy(() -> node.manager().checkLock(mine, id))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("rolled back");

        mine.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void lock_whose_row_was_swept_is_lost_and_not_too_new_for_the_snapshot() throws Exception {
        LockId id = kim();
        Lease lease = node.lease(LockName.of("b")).acquire(Wait.none());
        execute("UPDATE bitjang_locks SET expires_at = expires_at - 7200000000");
        assertThat(other.admin().sweep(Duration.ofHours(1))).isEqualTo(2);

        assertThatThrownBy(() -> node.manager().checkLock(mine, id))
                .isInstanceOf(NoLockException.class)
                .isNotInstanceOf(StaleSnapshotException.class);
        assertThatThrownBy(() -> lease.guard(mine)).isNotInstanceOf(StaleSnapshotException.class);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void lease_that_was_taken_by_another_refuses_the_guard_and_is_told_lost() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        expire(ORDER);
        other.lease(ORDER).acquire(Wait.none());
        pay();

        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);

        mine.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(told(Kind.LOST)).isEqualTo(1);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void guard_that_finds_the_lease_taken_away_says_by_whom() throws Exception {
        Lease lease = node.lease("job").acquire(Wait.none());
        other.admin().forceRelease(lease.name(), lease.fence(), "lee", "it hangs");

        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);

        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("lee", "it hangs"));
    }

    @Test
    void lease_that_was_given_back_guards_nothing() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        lease.close();
        pay();

        assertThatThrownBy(() -> lease.guard(mine))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("rolled back");

        mine.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void guard_of_several_locks_pins_each_of_them() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        expire(LockName.of("a"));
        expire(LockName.of("b"));
        group.guard(mine);

        assertThat(other.lease("a").tryAcquire()).isEmpty();
        assertThat(other.lease("b").tryAcquire()).isEmpty();
        mine.commit();
        assertThat(other.lease("a").tryAcquire()).isPresent();
        assertThat(other.lease("b").tryAcquire()).isPresent();
    }

    @Test
    void group_of_which_one_lock_is_lost_refuses_the_guard() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        expire(LockName.of("b"));
        other.lease("b").acquire(Wait.none());
        pay();

        assertThatThrownBy(() -> group.guard(mine)).isInstanceOf(NoLockException.class);

        mine.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void released_lease_goes_to_a_local_waiter_only_after_the_holders_transaction_has_ended() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        Job<Lease> next = start(() -> node.lease(ORDER).acquire(PATIENT)).untilItWaits();
        pay();
        lease.guard(mine);

        lease.close();

        assertThat(told(Kind.RELEASE_FAILED)).isEqualTo(1);
        assertThat(next.isDone()).isFalse();
        mine.commit();
        assertThat(next.result().fence()).isGreaterThan(lease.fence());
        assertThat(balance()).isZero();
    }

    @Test
    void operator_takes_a_guarded_lock_away_only_after_the_commit() throws Exception {
        Lease lease = other.lease(ORDER).acquire(Wait.none());
        lease.guard(mine);
        pay();
        AtomicInteger tries = new AtomicInteger();
        seen.before(sql -> tries.incrementAndGet());

        Job<Boolean> forced =
                start(() -> patiently(() -> node.admin().forceRelease(ORDER, lease.fence(), "ops", "why")));
        eventually("it was tried", () -> tries.get() >= 3);
        assertThat(forced.isDone()).isFalse();
        mine.commit();

        assertThat(forced.result()).isTrue();
        assertThat(balance()).isZero();
        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);
    }

    /** On a machine that stands still for two seconds one is told to try again. */
    private static <T> T patiently(Supplier<T> call) {
        while (true) {
            try {
                return call.get();
            } catch (LockingFailException e) {
                assertThat(e).hasMessageContaining("guards");
            }
        }
    }

    @Test
    void take_over_waits_for_the_guarded_transaction() throws Exception {
        kim();
        LockId id = node.manager()
                .takeOver(node.admin().find(ORDER).orElseThrow(), "kim", LONG, null, "again")
                .orElseThrow();
        node.manager().checkLock(mine, id);
        LockData seenNow = other.admin().find(ORDER).orElseThrow();
        AtomicInteger tries = new AtomicInteger();
        seen.before(sql -> tries.incrementAndGet());

        Job<Optional<LockId>> taking =
                start(() -> patiently(() -> node.manager().takeOver(seenNow, "lee", LONG, null, "urgent")));
        eventually("it was tried", () -> tries.get() >= 2);
        assertThat(taking.isDone()).isFalse();
        pay();
        mine.commit();

        assertThat(taking.result()).isPresent();
        assertThat(balance()).isZero();
    }

    @Test
    void release_in_the_transaction_takes_effect_when_and_only_when_it_commits() throws Exception {
        LockId id = kim();
        node.manager().releaseLock(mine, id);
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        mine.rollback();
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        node.manager().checkLock(id);

        pay();
        node.manager().releaseLock(mine, id);
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        mine.commit();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
    }

    @Test
    void release_in_the_transaction_of_a_lock_that_another_has_rolls_it_back() throws Exception {
        LockId id = kim();
        expire(ORDER);
        LockId lee = other.manager().tryLock("order", "42", "lee");
        pay();

        assertThatThrownBy(() -> node.manager().releaseLock(mine, id)).isInstanceOf(NoLockException.class);

        mine.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(other.manager().checkLock(lee).held()).isTrue();
    }

    /** Whoever has the row locked may be the next holder, in a transaction of their own. */
    @Test
    void guard_that_the_database_fails_lets_even_a_careless_commit_write_nothing() throws Exception {
        LockId id = kim();
        Lease lease = node.lease("job").acquire(Wait.none());
        mine = closing(seen.dataSource().getConnection());
        mine.setAutoCommit(false);

        for (ThrowingCallable guard : List.<ThrowingCallable>of(
                () -> node.manager().checkLock(mine, id),
                () -> node.manager().releaseLock(mine, id),
                () -> lease.guard(mine))) {
            pay();
            seen.before(sql -> {
                throw new SQLException("Lock wait timeout exceeded", "HYT00", 50200);
            });
            assertThatThrownBy(guard).isInstanceOf(LockingFailException.class).hasMessageContaining("rolled back");
            seen.up();
            mine.commit();
            assertThat(balance()).isEqualTo(100);
        }
    }

    @Test
    void guard_that_failed_and_could_not_look_why_does_not_call_the_lease_lost() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        Connection connection = closing(seen.dataSource().getConnection());
        connection.setAutoCommit(false);
        AtomicInteger statements = new AtomicInteger();
        seen.before(sql -> {
            throw statements.getAndIncrement() == 0
                    ? new SQLException("a deadlock", "40001")
                    : new SQLException("The connection broke", "08006");
        });

        assertThatThrownBy(() -> lease.guard(connection))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("rolled back");

        seen.up();
        assertThat(lease.isHeld()).isTrue();
        assertThat(told(Kind.LOST)).isZero();
        lease.close();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
    }

    @Test
    void guard_of_a_closed_instance_lets_even_a_careless_commit_write_nothing() throws Exception {
        LockId id = kim();
        Lease lease = node.lease("job").acquire(Wait.none());
        node.close();

        for (ThrowingCallable guard :
                List.<ThrowingCallable>of(() -> node.manager().checkLock(mine, id), () -> lease.guard(mine))) {
            pay();
            assertThatThrownBy(guard).isInstanceOf(IllegalStateException.class).hasMessageContaining("rolled back");
            mine.commit();
            assertThat(balance()).isEqualTo(100);
        }
    }

    @Test
    void without_a_transaction_that_can_be_guarded_it_is_refused() throws Exception {
        LockId id = kim();
        Lease lease = node.lease("job").acquire(Wait.none());
        mine.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        for (ThrowingCallable guard :
                List.<ThrowingCallable>of(() -> node.manager().checkLock(mine, id), () -> lease.guard(mine))) {
            pay();
            assertThatThrownBy(guard).isInstanceOf(IllegalStateException.class).hasMessageContaining("rolled back");
            mine.commit();
            assertThat(balance()).isEqualTo(100);
        }
        mine.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        mine.setAutoCommit(true);
        assertThatThrownBy(() -> node.manager().checkLock(mine, id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"getAutoCommit", "getTransactionIsolation"})
    void guard_on_a_connection_that_does_not_say_how_it_is_set_lets_even_a_careless_commit_write_nothing(String asked)
            throws Exception {
        LockId id = kim();
        Lease lease = node.lease("job").acquire(Wait.none());
        // what is wrapped around a connection may throw anything
        for (Throwable answer : List.of(
                new SQLException("no answer"),
                new UnsupportedOperationException("no answer"),
                new NoClassDefFoundError("no answer"))) {
            Connection silent = (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals(asked)) {
                            throw answer;
                        }
                        return method.invoke(mine, arguments);
                    });
            for (ThrowingCallable guard :
                    List.<ThrowingCallable>of(() -> node.manager().checkLock(silent, id), () -> lease.guard(silent))) {
                pay();
                assertThatThrownBy(guard)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContainingAll("no answer", "rolled back");
                mine.commit();
                assertThat(balance()).isEqualTo(100);
            }
        }
    }

    @Test
    void guard_is_one_statement_on_the_callers_connection_and_changes_no_setting() throws Exception {
        LockId id = kim();
        Connection callers = closing(seen.dataSource().getConnection());
        callers.setAutoCommit(false);
        seen.reset();

        node.manager().checkLock(callers, id);
        assertThat(seen.statements()).hasSize(1);
        node.manager().releaseLock(callers, id);
        assertThat(seen.statements()).hasSize(3);
        assertThat(seen.settings()).isEmpty();
        assertThat(seen.mostOpen()).isEqualTo(1);
        callers.commit();
    }
}
