// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.mariadb.jdbc.MariaDbDataSource;

/** A server that loses what it has committed gives a lock twice. */
@OnDatabase("mariadb")
class UnfitServersTest extends OnLocks {

    @Test
    void server_that_forgets_its_latest_commits_in_a_crash_is_refused_at_start() {
        database.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
        AutoCloseable back = () -> database.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
        closing(back);

        assertThatThrownBy(() -> builder().build())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("innodb_flush_log_at_trx_commit")
                .hasMessageContaining("Set it to 1");
    }

    @Test
    void a_read_only_replica_is_refused_at_start() throws SQLException {
        String user = "u" + prefix();
        database.execute("CREATE USER " + user + " IDENTIFIED BY 'reader'");
        AutoCloseable dropped = () -> database.execute("DROP USER " + user);
        closing(dropped);
        // who has these may write to a read-only server
        database.execute("GRANT ALL ON *.* TO " + user);
        database.execute("REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM " + user);
        MariaDbDataSource source = new MariaDbDataSource(database.jdbcUrl());
        source.setUser(user);
        source.setPassword("reader");
        closing(Locks.create(source)); // the user is fit
        database.execute("SET GLOBAL read_only = ON");
        AutoCloseable off = () -> database.execute("SET GLOBAL read_only = OFF");
        closing(off);

        assertThatThrownBy(() -> Locks.create(source))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("read-only")
                .hasMessageContaining("primary");
    }
}
