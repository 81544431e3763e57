// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockId;
import io.bitjang.Locks;
import io.bitjang.contracts.hostile.Rewriting;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever time a session gives its statements, a lock that is guarded is taken, and not a failure. */
@OnDatabase("postgresql")
class StatementTimeoutTest extends OnLocks {

    @Test
    void a_guarded_lock_is_taken_although_statements_may_last_less_than_a_wait_for_a_row() throws Exception {
        List<String> first = new ArrayList<>();
        Locks node = closing(Locks.create(Rewriting.sessions(database.dataSource(), first)));
        // not at start, which is a dozen statements: one of them may take longer on a busy machine
        first.add("SET statement_timeout = 100");
        LockId id = locks.manager().tryLock("order", name("a"), "kim", Duration.ofMinutes(1));
        database.execute(
                "UPDATE bitjang_locks SET expires_at = expires_at - 7200000000 WHERE id = '" + name("a") + "'");
        Connection connection = transaction();
        locks.manager().checkLock(connection, id);

        // on a machine that has no time at all a statement may take too long all the same: not each time
        assertThat(Stream.generate(() -> catchThrowable(() -> node.manager().tryLock("order", name("a"))))
                        .limit(20)
                        .filter(AlreadyLockedException.class::isInstance)
                        .findFirst())
                .isPresent();
        connection.commit();
    }
}
