// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.LockId;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnOwnTables;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An insert fails as busy if the gap is locked that it belongs into: that says nothing about the lock. */
@OnDatabase("mariadb")
class BusyGapTest extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final AtomicInteger attempts = new AtomicInteger();
    private Connection gap;
    private CountingDataSource source;
    private Locks node;

    @BeforeEach
    void lock_the_gap() throws SQLException {
        source = new CountingDataSource(pool);
        node = closing(Locks.builder(source).tablePrefix(prefix()).build());
        gap = transaction();
        try (Statement statement = gap.createStatement()) {
            statement
                    .executeQuery("SELECT * FROM " + table("locks") + " FOR UPDATE")
                    .close();
        }
    }

    private void freeTheGapBeforeAttempt(int number) {
        source.onStatement(sql -> {
            if (sql.contains("INSERT INTO") && attempts.incrementAndGet() == number) {
                gap.rollback();
            }
        });
    }

    @Test
    void a_free_lock_is_not_refused_because_a_gap_is_locked() {
        freeTheGapBeforeAttempt(6);

        LockId id = node.manager().tryLock("order", "1", "kim", MINUTE);

        assertThat(attempts).hasValue(6);
        assertThat(other.manager().checkLock(id).owner()).isEqualTo("kim");
    }

    @Test
    void a_free_group_is_not_refused_because_a_gap_is_locked() {
        freeTheGapBeforeAttempt(6);

        assertThat(node.leaseAll("a", "b").tryAcquire()).isPresent();
    }

    @Test
    void a_gap_that_stays_locked_is_a_failure_and_no_refusal() throws SQLException {
        assertThatExceptionOfType(LockingFailException.class)
                .isThrownBy(() -> node.manager().tryLock("order", "1", "kim", MINUTE));
        gap.rollback();

        assertThat(other.manager().tryLock("order", "1", "kim", MINUTE)).isNotNull();
    }
}
