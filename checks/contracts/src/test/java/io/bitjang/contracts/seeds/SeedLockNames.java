// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Wait;
import io.bitjang.testkit.contract.OnLocks;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

/** The names of GET_LOCK, which only MySQL and MariaDB have: in the document's lock, and in Bitjang's. */
public abstract class SeedLockNames extends OnLocks {

    @Test
    void seed_fails_on_a_long_name() throws Exception {
        try (Connection connection = pool.getConnection()) {
            SeedUserLevelLock seed = new SeedUserLevelLock(pool, database.name());
            // 64 characters on MySQL, 192 bytes on MariaDB
            assertThatThrownBy(() -> seed.getLock(connection, "x".repeat(193), 0))
                    .isInstanceOf(java.sql.SQLException.class);
        }
    }

    @Test
    void bitjang_takes_a_long_name() {
        assertThat(locks.session("x".repeat(255)).call(Wait.none(), () -> "had"))
                .isEqualTo("had");
    }

    @Test
    void seed_on_mysql_takes_upper_and_lower_case_for_the_same_lock() throws Exception {
        SeedUserLevelLock seed = new SeedUserLevelLock(pool, database.name());
        try (Connection one = pool.getConnection();
                Connection another = pool.getConnection()) {
            seed.getLock(one, name("A"), 0);
            if (database.name().equals("mysql")) {
                assertThatThrownBy(() -> seed.getLock(another, name("a"), 0)).hasMessageContaining("GetLock");
            } else {
                seed.getLock(another, name("a"), 0);
                seed.releaseLock(another, name("a"));
            }
            seed.releaseLock(one, name("A"));
        }
    }

    @Test
    void bitjang_tells_upper_and_lower_case_apart() {
        locks.session(name("A"))
                .run(
                        Wait.none(),
                        () -> assertThat(other.session(name("a")).tryRun(() -> {}))
                                .isTrue());
    }

    @Test
    void seed_takes_a_failure_for_a_time_out() throws Exception {
        SeedUserLevelLock seed = new SeedUserLevelLock(pool, database.name());
        try (Connection one = pool.getConnection()) {
            // released by nobody: the answer is NULL, and is read as 0, "someone else has it"
            assertThatThrownBy(() -> seed.releaseLock(one, name("nobody's"))).hasMessageContaining("result = 0");
        }
    }
}
