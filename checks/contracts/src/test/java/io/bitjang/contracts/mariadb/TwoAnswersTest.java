// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockId;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.contracts.hostile.Rewriting;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnOwnTables;
import java.time.Duration;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** A server that runs a statement twice, as Galera does after a failed certification, answers for both; the first was undone. */
@OnDatabase("mariadb")
class TwoAnswersTest extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void the_answer_of_an_attempt_that_was_undone_gives_no_lock() {
        Locks node = closing(Locks.builder(Rewriting.answeredTwice(pool, "ON DUPLICATE KEY UPDATE", "lock_id", 3))
                .tablePrefix(prefix())
                .build());
        LockId held = other.manager().tryLock("order", "1", "kim", MINUTE);

        assertThatExceptionOfType(AlreadyLockedException.class)
                .isThrownBy(() -> node.manager().tryLock("order", "1", "lee", MINUTE));

        assertThat(other.manager().checkLock(held).owner()).isEqualTo("kim");
        other.manager().releaseLock(held);
        LockId granted = node.manager().tryLock("order", "1", "lee", MINUTE);
        assertThat(other.manager().checkLock(granted).owner()).isEqualTo("lee");
    }

    private LeaseLock answeredTwice(LongUnaryOperator undoneFence) {
        // the fence is next to three bits
        LongUnaryOperator undone = number -> undoneFence.applyAsLong(number >> 3) << 3;
        return closing(Locks.builder(Rewriting.answeredTwice(pool, "RETURNING fence * 8", 1, undone))
                        .tablePrefix(prefix())
                        .leaseDuration(MINUTE)
                        .build())
                .leaseAll("a", "b", "c");
    }

    @Test
    void a_group_whose_attempt_was_undone_under_a_higher_fence_has_the_fence_of_its_rows() {
        try (Lease group = answeredTwice(fence -> fence + 1_000).acquire(Wait.none())) {
            assertThat(group.names())
                    .allSatisfy(name -> assertThat(other.admin().find(name))
                            .hasValueSatisfying(row -> assertThat(row.fence()).isEqualTo(group.fence())));
        }
    }

    @Test
    void a_group_whose_attempt_was_undone_under_a_lower_fence_is_given_back() {
        LeaseLock group = answeredTwice(fence -> fence - 1_000);

        assertThatExceptionOfType(LockingFailException.class).isThrownBy(() -> group.acquire(Wait.none()));

        try (Lease next = other.leaseAll("a", "b", "c").acquire(Wait.upTo(Duration.ofSeconds(20)))) {
            assertThat(next.isHeld()).isTrue();
        }
    }
}
