// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import org.junit.jupiter.api.Test;

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
}
