// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import org.junit.jupiter.api.Test;

/** On a member of a group and on a replica, GET_LOCK is that of this one server only: session locks are refused there. */
@OnDatabase("mysql")
class UnfitServersTest extends OnLocks {

    @Test
    void session_locks_are_refused_on_a_member_of_a_replication_group() {
        database.execute("INSTALL PLUGIN group_replication SONAME 'group_replication.so'");
        AutoCloseable uninstall = () -> database.execute("UNINSTALL PLUGIN group_replication");
        closing(uninstall);
        database.execute("SET GLOBAL group_replication_group_name = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa'");

        assertThatThrownBy(() -> locks.session(name("a")).tryAcquire())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("replication group")
                .hasMessageContaining("locks.lease(name)");
    }

    @Test
    void a_group_with_several_primaries_is_refused_at_start() {
        database.execute("INSTALL PLUGIN group_replication SONAME 'group_replication.so'");
        AutoCloseable uninstall = () -> database.execute("UNINSTALL PLUGIN group_replication");
        closing(uninstall);
        database.execute("SET GLOBAL group_replication_group_name = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa'");
        closing(builder().build()); // a single primary is fine
        database.execute("SET GLOBAL group_replication_single_primary_mode = OFF");

        assertThatThrownBy(() -> builder().build())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("several primaries")
                .hasMessageContaining("single-primary mode");
    }

    @Test
    void a_read_only_replica_is_refused_at_start() {
        database.execute("SET GLOBAL read_only = ON");
        AutoCloseable off = () -> database.execute("SET GLOBAL read_only = OFF");
        closing(off);

        assertThatThrownBy(() -> builder().build())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("read-only")
                .hasMessageContaining("primary");
    }

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
    void session_locks_are_refused_on_a_read_only_replica() {
        database.execute("SET GLOBAL read_only = ON");
        AutoCloseable off = () -> database.execute("SET GLOBAL read_only = OFF");
        closing(off);

        assertThatThrownBy(() -> locks.session(name("a")).tryAcquire())
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("read-only replica");
        database.execute("SET GLOBAL read_only = OFF");
        assertThat(locks.session(name("a")).tryRun(() -> {})).isTrue();
    }
}
