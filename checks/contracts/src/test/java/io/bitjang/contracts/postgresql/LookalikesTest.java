// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.contracts.hostile.Rewriting;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What calls itself PostgreSQL to JDBC is asked what it is; here PostgreSQL answers as others do. */
@OnDatabase("postgresql")
class LookalikesTest extends OnLocks {

    private Locks on(UnaryOperator<String> rewritten) {
        return Locks.create(Rewriting.statements(pool, rewritten));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CockroachDB | CockroachDB CCL v23.2.4 (x86_64-pc-linux-gnu, built 2024/04/08, go1.21.5)",
                "YugabyteDB  | PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang, 64-bit",
                "CrateDB     | CrateDB 5.7.2 (built 5f3a2b1/2024-06-01, Linux 5.15 amd64, OpenJDK 22)",
                "Spanner     | PostgreSQL 14.1 (Spanner PGAdapter)",
                "Greenplum   | PostgreSQL 14.4 (Greenplum Database 7.1.0) on x86_64-pc-linux-gnu",
                "this engine | PostgreSQL 13.14.0-RisingWave-1.9.0"
            })
    void another_server_is_refused_by_name(String name, String version) {
        assertThatThrownBy(() -> on(sql -> sql.replace("version()", "'" + version + "'")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("does not work on " + name)
                .hasMessageContaining(version);
    }

    @Test
    void advisory_locks_that_are_not_kept_are_noticed() {
        assertThatThrownBy(() -> on(sql -> sql.replace("pg_try_advisory_xact_lock(7117113227)", "true")))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("advisory locks");
    }

    @Test
    void a_server_that_does_not_know_the_question_is_refused() {
        assertThatThrownBy(() -> on(sql -> sql.replace("pg_is_in_recovery", "no_such_function")))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("no_such_function");
    }

    @Test
    @Timeout(30)
    void nothing_hangs_on_a_pool_of_one() {
        try (HikariDataSource one = database.pool(1);
                Locks node = Locks.create(one)) {
            assertThat(node.lease(name("a")).tryRun(() -> {})).isTrue();
        }
    }
}
