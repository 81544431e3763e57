// SPDX-License-Identifier: Apache-2.0
package io.bitjang.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.LockManagerContract;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The snippets of docs/testing.md that need no Spring, compiled and run. */
class TestingSnippetsTest {

    @Nested
    class NightlyReportTest {

        private final JdbcConnectionPool pool =
                JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "");
        private final Locks locks = Locks.create(pool);
        private final Locks anotherNode = Locks.create(pool);

        @AfterEach
        void close() {
            anotherNode.close();
            locks.close();
            pool.dispose();
        }

        @Test
        void the_job_is_skipped_while_another_node_runs_it() {
            try (Lease theirs = anotherNode.lease("nightly-report").acquire(Wait.none())) {
                assertThat(locks.lease("nightly-report").tryRun(() -> {})).isFalse();
            }
        }

        @Test
        void a_job_that_has_lost_its_lock_saves_nothing() throws SQLException {
            Lease lease = locks.lease("nightly-report").acquire(Wait.none());
            locks.admin().forceRelease(lease.name(), lease.fence(), "test", "the lease is lost");
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                assertThatThrownBy(() -> lease.guard(connection)).isInstanceOf(NoLockException.class);
            }
        }
    }

    /** Compiled only: PostgreSQL is not here, and checks/contracts runs the contracts. */
    static class Compiled {

        @OnDatabase("postgresql")
        class OurPostgresTest extends LockManagerContract {}
    }
}
