// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.admin.LockCounts;
import io.bitjang.admin.LockFilter;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** After it was closed, an instance does nothing any more, and says so. */
public abstract class ClosedContract extends OnOwnTables {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final LockName ORDER = LockName.of("order", "42");

    /** For the databases. */
    protected ClosedContract() {}

    @Test
    void every_operation_says_that_it_is_closed_and_changes_nothing() throws Exception {
        LockId held = locks.manager().tryLock("order", "42", "kim", MINUTE);
        locks.distLock().tryLock("batch", "kim", MINUTE);
        Lease lease = locks.lease("job").tryAcquire().orElseThrow();
        locks.close();
        Connection connection = transaction();

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> locks.manager().tryLock("order", "43"),
                () -> locks.manager().checkLock(held),
                () -> locks.manager().checkLock(connection, held),
                () -> locks.manager().releaseLock(held),
                () -> locks.manager().releaseLock(connection, held),
                () -> locks.manager().extendLockExpiration(held, MINUTE),
                () -> locks.manager().renew(held, MINUTE),
                () -> locks.manager().leave(held, MINUTE),
                () -> locks.distLock().tryLock("batch", "kim", MINUTE),
                () -> locks.distLock().unlock("batch", "kim"),
                () -> locks.lease("x").tryAcquire(),
                () -> locks.lease("x").acquire(Wait.none()),
                () -> locks.lease("x").acquire(Wait.forever()),
                () -> locks.lease("x").acquireAsync(Wait.forever()),
                () -> locks.lease("x").tryRun(() -> {}),
                () -> locks.lease("x").run(Wait.none(), () -> {}),
                () -> locks.lease("x").call(Wait.none(), () -> 1),
                () -> locks.lease("x").asLock().lock(),
                () -> locks.lease("x").asLock().tryLock(),
                () -> locks.leaseAll("x", "y").tryAcquire(),
                () -> lease.renew(),
                () -> lease.ensure(MINUTE),
                () -> lease.guard(connection),
                () -> locks.admin().list(LockFilter.all()),
                () -> locks.admin().find(ORDER),
                () -> locks.admin().counts(),
                () -> locks.admin().forceRelease(ORDER, held.fence(), "ops", "why"),
                () -> locks.admin().sweep(Duration.ofHours(1)),
                () -> locks.admin().audit(10))) {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(call)
                    .withMessageContaining("closed");
        }

        assertThat(other.admin().counts()).isEqualTo(new LockCounts(2, 0, 1));
        assertThatNoException().isThrownBy(() -> other.manager().checkLock(held));
    }

    @Test
    void closing_gives_back_the_leases_and_leaves_offline_locks_and_locks_by_owner() {
        LockId held = locks.manager().tryLock("order", "42", "kim", MINUTE);
        locks.distLock().tryLock("batch", "kim", MINUTE);
        Lease single = locks.lease("job").tryAcquire().orElseThrow();
        Lease several = locks.leaseAll("a", "b").tryAcquire().orElseThrow();

        locks.close();

        assertThat(single.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(several.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(other.leaseAll("job", "a", "b").tryAcquire()).isPresent();
        assertThat(other.manager().checkLock(held).held()).isTrue();
        assertThat(other.distLock().tryLock("batch", "lee", MINUTE)).isFalse();
    }

    @Test
    void closing_twice_and_closing_a_lease_afterwards_is_fine() {
        Lease lease = locks.lease("job").tryAcquire().orElseThrow();

        assertThatNoException().isThrownBy(() -> {
            locks.close();
            locks.close();
            lease.close();
        });
    }

    @Test
    void whoever_waits_is_told() throws Exception {
        assertThat(other.lease("job").tryAcquire()).isPresent();
        CompletableFuture<Lease> waiting =
                locks.lease("job").acquireAsync(Wait.forever()).toCompletableFuture();

        locks.close();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> waiting.get(1, TimeUnit.MINUTES))
                .withCauseInstanceOf(LockException.class)
                .withMessageContaining("closed");
    }
}
