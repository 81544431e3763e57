// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is asked at start is asked on one connection, as LookalikesTest shows on the others. */
@OnDatabase("mariadb")
class PoolOfOneTest extends OnLocks {

    @Test
    @Timeout(30)
    void nothing_hangs_on_a_pool_of_one() {
        try (HikariDataSource one = database.pool(1);
                Locks node = Locks.create(one)) {
            assertThat(node.lease(name("a")).tryRun(() -> {})).isTrue();
        }
    }
}
