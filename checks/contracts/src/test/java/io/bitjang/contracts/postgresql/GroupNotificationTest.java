// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Locks that are given back together: those who wait for one of them are notified, and nobody else is woken. */
@OnDatabase("postgresql")
class GroupNotificationTest extends OnLocks {

    @Test
    void one_who_waits_for_a_lock_of_a_group_hears_that_it_was_freed() throws Exception {
        LockName wanted = LockName.of(name("wanted"));
        LockName quiet = LockName.of(name("quiet"));
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("DO $$ BEGIN EXECUTE 'LISTEN bitjang_' || 'bitjang_locks'::regclass::oid; END $$");
            Lease group = locks.leaseAll(List.of(wanted, quiet)).acquire(Wait.none());
            database.execute("UPDATE bitjang_locks SET wanted = 7 WHERE id = '" + wanted.id() + "'");

            group.close();
            locks.lease(quiet).acquire(Wait.none()).close();

            assertThat(received(connection)).containsExactly("4:lock" + wanted.id());
        }
    }

    private static List<String> received(Connection connection) throws SQLException {
        List<String> texts = new ArrayList<>();
        PGNotification[] some = connection.unwrap(PGConnection.class).getNotifications(20_000);
        Stream.of(some == null ? new PGNotification[0] : some)
                .map(PGNotification::getParameter)
                .forEach(texts::add);
        return texts;
    }
}
