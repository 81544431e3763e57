// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockId;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnAccounts;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

/** What is different about H2. */
@OnDatabase("h2")
class GuardOnH2Test extends OnAccounts {

    @Test
    void repeatable_read_has_a_snapshot_for_each_table_from_its_first_use() throws Exception {
        database.execute("CREATE TABLE " + prefix() + "second (id INT)");
        AutoCloseable drop = () -> database.execute("DROP TABLE " + prefix() + "second");
        closing(drop);
        Connection tx = transaction(Connection.TRANSACTION_REPEATABLE_READ);
        assertThat(balance(tx)).isZero();
        write(100);
        database.execute("INSERT INTO " + prefix() + "second VALUES (1)");

        assertThat(balance(tx)).as("old").isZero();
        try (var rows = tx.createStatement().executeQuery("SELECT * FROM " + prefix() + "second")) {
            assertThat(rows.next()).as("new").isTrue();
        }
    }

    /** The guard sees the lock's row as it is now, which says nothing about the rows that were read before. */
    @Test
    void repeatable_read_is_refused_because_no_guard_could_prove_that_the_data_is_younger_than_the_grant()
            throws Exception {
        Connection tx = transaction(Connection.TRANSACTION_REPEATABLE_READ);
        assertThat(balance(tx)).isZero();
        write(100);
        LockId id = locks.manager().tryLock(account.type(), account.id());

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> locks.manager().releaseLock(tx, id)).isInstanceOf(IllegalStateException.class);

        assertThat(locks.manager().checkLock(id).held()).isTrue();
    }
}
