// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.contracts.hostile.Rewriting;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnOwnTables;
import java.time.Duration;
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
}
