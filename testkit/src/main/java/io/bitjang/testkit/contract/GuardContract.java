// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The guard: what is true of a lock when the caller's transaction checks it, stays true until that transaction has ended. */
public abstract class GuardContract extends OnAccounts {

    private static final Duration SHORT = Duration.ofMillis(150);
    private static final Duration LONG = Duration.ofMinutes(5);

    /** For the databases' test classes. */
    protected GuardContract() {}

    @Test
    void closing_on_an_interrupted_thread_frees_the_lock_even_if_its_row_is_locked() throws Exception {
        Lease lease = locks.lease(name("job")).lasting(Duration.ofMinutes(5)).acquire(Wait.none());
        Connection guarded = transaction();
        lease.guard(guarded);

        Thread.currentThread().interrupt();
        try {
            lease.close();
        } finally {
            assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        }

        guarded.commit();
        other.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(60))).close();
    }

    @Test
    void a_lease_closed_under_a_guard_is_free_after_the_commit_though_its_instance_was_closed() throws Exception {
        Locks brief = builder().closeTimeout(Duration.ofMillis(100)).build();
        Lease lease = brief.lease(name("job")).lasting(Duration.ofMinutes(5)).acquire(Wait.none());
        Connection guarded = transaction();
        lease.guard(guarded);
        lease.close();
        brief.close();

        guarded.commit();

        other.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(60))).close();
    }

    @Test
    void nobody_takes_a_guarded_lock_even_after_it_has_expired() throws Exception {
        LockId id = hold(SHORT);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        awaitLapse(account);

        assertThatThrownBy(() -> other.manager().tryLock(account.type(), account.id()))
                .isInstanceOf(AlreadyLockedException.class);
        assertThatThrownBy(() -> locks.manager().tryLock(account.type(), account.id()))
                .isInstanceOf(AlreadyLockedException.class);
        assertThat(other.lease(account).tryAcquire()).isEmpty();

        write(tx, 100);
        tx.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(other.manager().tryLock(account.type(), account.id()).fence())
                .isGreaterThan(id.fence());
    }

    @Test
    void nobody_takes_a_guarded_lock_together_with_others() throws Exception {
        LockName free = lockName("free");
        LockId id = hold(SHORT);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        awaitLapse(account);

        assertThat(other.leaseAll(List.of(account, free)).tryAcquire()).isEmpty();
        assertThat(other.lease(free).tryAcquire()).as("the other name").hasValueSatisfying(Lease::close);

        tx.commit();
        assertThat(other.leaseAll(List.of(account, free)).tryAcquire()).hasValueSatisfying(Lease::close);
    }

    @Test
    void waiter_on_another_node_gets_a_guarded_lock_after_the_commit_and_reads_what_was_committed() throws Exception {
        CountDownLatch refused = new CountDownLatch(2);
        Locks waiting =
                closing(builder().listener(e -> countRefusal(e, refused)).build());
        LockId id = hold(SHORT);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        awaitLapse(account);

        CompletableFuture<Lease> waiter =
                waiting.lease(account).acquireAsync(Wait.upTo(PATIENCE)).toCompletableFuture();
        assertThat(refused.await(PATIENCE.toSeconds(), SECONDS))
                .as("it has really tried")
                .isTrue();
        assertThat(waiter).isNotDone();
        write(tx, 100);
        tx.commit();

        try (Lease next = waiter.get(PATIENCE.toSeconds(), SECONDS)) {
            assertThat(balance()).isEqualTo(100);
            assertThat(next.fence()).isGreaterThan(id.fence());
        }
    }

    private static void countRefusal(LockEvent event, CountDownLatch refused) {
        if (event.kind() == LockEvent.Kind.REFUSED) {
            refused.countDown();
        }
    }

    @Test
    void released_lease_goes_to_a_local_waiter_only_after_the_holders_transaction_has_ended() throws Exception {
        Lease lease = locks.lease(account).acquire(Wait.none());
        CompletableFuture<Lease> waiter =
                locks.lease(account).acquireAsync(Wait.upTo(PATIENCE)).toCompletableFuture();
        Connection tx = transaction();
        lease.guard(tx);
        write(tx, 100);

        lease.close();

        assertThatThrownBy(() -> waiter.get(A_WHILE.toMillis(), MILLISECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(other.lease(account).tryAcquire()).isEmpty();
        tx.commit();
        try (Lease next = waiter.get(PATIENCE.toSeconds(), SECONDS)) {
            assertThat(balance()).isEqualTo(100);
            assertThat(next.fence()).isGreaterThan(lease.fence());
        }
    }

    @Test
    void operator_takes_a_guarded_lock_away_only_after_the_commit() throws Exception {
        LockId id = hold(LONG);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        write(tx, 100);

        assertThatThrownBy(() -> other.admin().forceRelease(account, id.fence(), "ops", "in the way"))
                .isInstanceOf(LockingFailException.class);
        assertThat(other.lease(account).tryAcquire()).isEmpty();

        tx.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(other.admin().forceRelease(account, id.fence(), "ops", "in the way"))
                .isTrue();
        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(NoLockException.class);
    }

    /** How a lock goes away behind its holder's back. */
    enum Loss {
        TAKEN,
        TAKEN_AND_RELEASED,
        FORCED,
        RELEASED
    }

    @ParameterizedTest
    @EnumSource
    void lost_lock_refuses_the_guard_and_even_a_careless_commit_writes_nothing(Loss loss) throws Exception {
        LockId id = lost(loss);
        Connection tx = transaction();
        write(tx, 66);

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(NoLockException.class);

        tx.commit();
        assertThat(balance()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void lost_lock_refuses_the_release_and_even_a_careless_commit_writes_nothing(Loss loss) throws Exception {
        LockId id = lost(loss);
        Connection tx = transaction();
        write(tx, 66);

        assertThatThrownBy(() -> locks.manager().releaseLock(tx, id)).isInstanceOf(NoLockException.class);

        tx.commit();
        assertThat(balance()).isZero();
        if (loss == Loss.TAKEN) {
            assertThat(locks.admin().find(account))
                    .hasValueSatisfying(now -> assertThat(now.held()).isTrue());
        }
    }

    private LockId lost(Loss loss) throws Exception {
        LockId id = hold(loss == Loss.TAKEN || loss == Loss.TAKEN_AND_RELEASED ? Duration.ofMillis(50) : LONG);
        switch (loss) {
            case TAKEN -> takeOver();
            case TAKEN_AND_RELEASED -> other.manager().releaseLock(takeOver());
            case FORCED -> other.admin().forceRelease(account, id.fence(), "ops", "in the way");
            case RELEASED -> other.manager().releaseLock(id);
        }
        return id;
    }

    private LockId takeOver() throws Exception {
        awaitLapse(account);
        return other.manager().tryLock(account.type(), account.id());
    }

    @Test
    void lease_that_was_taken_away_refuses_the_guard_and_is_lost() throws Exception {
        Lease lease = locks.lease(account).acquire(Wait.none());
        other.admin().forceRelease(account, lease.fence(), "ops", "in the way");
        Connection tx = transaction();
        write(tx, 66);

        assertThatThrownBy(() -> lease.guard(tx)).isInstanceOf(NoLockException.class);

        tx.commit();
        assertThat(balance()).isZero();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThatCode(lease::close).as("the holder knows").doesNotThrowAnyException();
    }

    @Test
    void save_checks_writes_and_releases_in_one_transaction() throws Exception {
        LockId id = hold(LONG);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        write(tx, 100);
        locks.manager().releaseLock(tx, id);

        assertThat(other.lease(account).tryAcquire()).as("before the commit").isEmpty();
        assertThatCode(() -> other.manager().checkLock(id))
                .as("before the commit")
                .doesNotThrowAnyException();

        tx.commit();
        assertThat(other.lease(account).tryAcquire()).as("after the commit").hasValueSatisfying(Lease::close);
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void waiter_gets_a_lock_that_was_released_by_a_commit_long_before_it_would_expire() throws Exception {
        LockId id = hold(LONG);
        CompletableFuture<Lease> waiter =
                other.lease(account).acquireAsync(Wait.upTo(PATIENCE)).toCompletableFuture();
        Connection tx = transaction();
        write(tx, 100);
        locks.manager().releaseLock(tx, id);
        assertThatThrownBy(() -> waiter.get(A_WHILE.toMillis(), MILLISECONDS)).isInstanceOf(TimeoutException.class);

        tx.commit();

        try (Lease next = waiter.get(PATIENCE.toSeconds(), SECONDS)) {
            assertThat(next.isHeld()).isTrue();
            assertThat(balance()).isEqualTo(100);
        }
    }

    @Test
    void rollback_leaves_the_lock_as_it_was() throws Exception {
        LockId id = hold(LONG);
        Connection tx = transaction();
        write(tx, 66);
        locks.manager().releaseLock(tx, id);

        tx.rollback();

        assertThat(locks.manager().checkLock(id).fence()).isEqualTo(id.fence());
        assertThatThrownBy(() -> other.manager().tryLock(account.type(), account.id()))
                .isInstanceOf(AlreadyLockedException.class);
        locks.manager().checkLock(tx, id);
        write(tx, 100);
        tx.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void connection_in_auto_commit_mode_is_refused() throws Exception {
        LockId id = hold(LONG);
        Connection tx = transaction();
        tx.setAutoCommit(true);
        Lease lease = locks.lease(lockName("lease")).acquire(Wait.none());

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> locks.manager().releaseLock(tx, id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> lease.guard(tx)).isInstanceOf(IllegalStateException.class);

        assertThat(locks.manager().checkLock(id).held()).isTrue();
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void lapsed_lock_that_nobody_took_passes_the_guard_but_not_the_plain_check() throws Exception {
        LockId id = hold(Duration.ofMillis(50));
        awaitLapse(account);

        assertThatThrownBy(() -> locks.manager().checkLock(id)).isInstanceOf(NoLockException.class);
        Connection tx = transaction();
        assertThat(locks.manager().checkLock(tx, id).isExpired()).isTrue();
        write(tx, 100);
        locks.manager().releaseLock(tx, id);
        tx.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void lease_that_was_told_lost_passes_no_guard_even_if_nobody_took_it() throws Exception {
        Lease lease = locks.lease(account).lasting(SHORT).maxHold(SHORT).acquire(Wait.none());
        await("the loss", () -> lease.state() == Lease.State.LOST);
        Connection tx = transaction();
        write(tx, 66);

        assertThatThrownBy(() -> lease.guard(tx)).isInstanceOf(NoLockException.class);

        tx.commit();
        assertThat(balance()).isZero();
    }

    @Test
    void guard_of_several_locks_covers_every_one_of_them() throws Exception {
        List<LockName> names = List.of(account, lockName("a"), lockName("z"));
        Lease lease = locks.leaseAll(names).acquire(Wait.none());
        Connection tx = transaction();
        lease.guard(tx);
        lease.close();

        for (LockName name : names) {
            assertThat(other.lease(name).tryAcquire()).as("%s", name).isEmpty();
        }
        tx.commit();
        for (LockName name : names) {
            try (Lease next = other.lease(name).acquire(Wait.upTo(PATIENCE))) {
                assertThat(next.fence()).isGreaterThan(lease.fence());
            }
        }
    }

    @Test
    void guard_of_several_locks_refuses_when_any_one_was_lost() throws Exception {
        LockName last = lockName("z");
        Lease lease = locks.leaseAll(List.of(account, last)).acquire(Wait.none());
        other.admin().forceRelease(last, lease.fence(), "ops", "in the way");
        Connection tx = transaction();
        write(tx, 66);

        assertThatThrownBy(() -> lease.guard(tx)).isInstanceOf(NoLockException.class);

        tx.commit();
        assertThat(balance()).isZero();
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void guard_on_a_closed_connection_is_refused_and_harms_nothing() throws Exception {
        LockId id = hold(LONG);
        Connection closed = database.dataSource().getConnection();
        closed.close();

        assertThatThrownBy(() -> locks.manager().checkLock(closed, id)).isInstanceOf(IllegalStateException.class);

        assertThatCode(() -> locks.manager().checkLock(id)).doesNotThrowAnyException();
    }

    private LockId hold(Duration duration) {
        return locks.manager().tryLock(account.type(), account.id(), "kim", duration);
    }
}
