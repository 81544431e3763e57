// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static io.bitjang.testkit.contract.HostileBattery.assertGone;
import static io.bitjang.testkit.contract.HostileBattery.assertHeld;
import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockId;
import io.bitjang.Locks;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** What the battery does in transactions of the caller's. Not thread-safe. */
final class HostileTransactions {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Locks one;
    private final Locks two;
    private final Locks honest;
    private final DataSource hostile;
    private final HostileBattery battery;

    HostileTransactions(List<Locks> nodes, DataSource hostile, HostileBattery battery) {
        this.one = nodes.get(0);
        this.two = nodes.get(1);
        this.honest = nodes.get(2);
        this.hostile = hostile;
        this.battery = battery;
    }

    /** Even a lock that has run out stays with the one whose transaction is guarded. */
    void guard() throws SQLException {
        LockId id = one.manager().tryLock("guard", "x", "kim", MINUTE);
        battery.past(id.name());
        inTransaction(connection -> {
            one.manager().checkLock(connection, id);
            for (Locks each : List.of(two, honest)) {
                assertHeld(each, "guard", "x");
            }
            connection.commit();
        });
        LockId taken = two.manager().tryLock("guard", "x", "lee", MINUTE);
        assertThat(taken.fence()).isGreaterThan(id.fence());
        two.manager().releaseLock(taken);
    }

    void lateGuard() throws SQLException {
        LockId id = two.manager().tryLock("late", "x", "kim", MINUTE);
        battery.past(id.name());
        LockId taken = one.manager().tryLock("late", "x", "lee", MINUTE);
        inTransaction(connection -> {
            assertGone(() -> two.manager().checkLock(connection, id));
            connection.rollback();
        });
        one.manager().releaseLock(taken);
    }

    void releaseWithCaller() throws SQLException {
        LockId id = one.manager().tryLock("save", "x", "kim", MINUTE);
        inTransaction(connection -> {
            one.manager().releaseLock(connection, id);
            connection.rollback();
            assertHeld(two, "save", "x");
            two.manager().releaseLock(connection, id);
            connection.commit();
        });
        LockId next = two.manager().tryLock("save", "x", "lee", MINUTE);
        assertHeld(one, "save", "x");
        honest.manager().releaseLock(next);
    }

    private interface Work {
        void on(Connection connection) throws SQLException;
    }

    private void inTransaction(Work work) throws SQLException {
        try (Connection connection = hostile.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            work.on(connection);
            connection.setAutoCommit(autoCommit);
        }
    }
}
