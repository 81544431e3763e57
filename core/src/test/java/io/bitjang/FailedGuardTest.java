// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spi.LockEvent.Kind;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A guard that can not be carried out leaves nothing to commit. */
class FailedGuardTest extends OnGuardedOrder {

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
}
