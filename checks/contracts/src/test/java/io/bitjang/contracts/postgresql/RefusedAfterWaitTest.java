// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.Wait;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.OnLocks;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** An attempt that waited for another's grant is refused by that one, and not by whoever had the lock before. */
@OnDatabase("postgresql")
class RefusedAfterWaitTest extends OnLocks {

    @Test
    void attempt_that_waited_for_a_grant_names_the_new_holder() throws Exception {
        locks.lease(name("a")).acquire(Wait.none()).close();
        // as by another attempt, which has not committed yet
        Connection connection = transaction();
        try (Statement statement = connection.createStatement()) {
            statement.execute("UPDATE bitjang_locks SET type = type, lock_id = 'x', owner = 'lee', wanted = 0,"
                    + " expires_at = expires_at + 3600000000 WHERE id = '" + name("a") + "'");
        }
        CompletableFuture<AlreadyLockedException> refused = CompletableFuture.supplyAsync(() -> catchThrowableOfType(
                AlreadyLockedException.class, () -> other.lease(name("a")).acquire(Wait.none())));
        // it waits for up to 150 ms at a time; whether it does or comes back later makes no difference to what it says
        Thread.sleep(50);
        connection.commit();

        assertThat(refused.get().holder()).map(LockData::owner).hasValue("lee");
    }
}
