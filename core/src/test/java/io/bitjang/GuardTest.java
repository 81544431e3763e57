// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A guard inside the business transaction. */
class GuardTest extends OnGuardedOrder {

    @Test
    void nobody_takes_a_guarded_lock_even_after_it_has_expired() throws Exception {
        LockId id = kim();
        expire(ORDER);
        node.manager().checkLock(mine, id);

        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        assertThat(other.leaseAll(List.of(ORDER, LockName.of("b"))).tryAcquire())
                .isEmpty();
        assertThatThrownBy(() -> other.manager().tryLock("order", "42", "lee"))
                .isInstanceOf(AlreadyLockedException.class);

        pay();
        mine.commit();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
        assertThat(balance()).isZero();
    }

    @Test
    void nobody_takes_a_guarded_lock_that_its_own_node_believes_to_be_free() throws Exception {
        other.lease(ORDER).acquire(Wait.none()).close();
        LockId id = kim();
        expire(ORDER);
        node.manager().checkLock(mine, id);

        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        mine.rollback();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
    }

    @Test
    void lost_lock_refuses_the_guard_and_even_a_careless_commit_writes_nothing() throws Exception {
        LockId id = kim();
        expire(ORDER);
        // in the name of the same owner: the owner gives no right
        other.manager().tryLock("order", "42", "kim");
        pay();

        assertThatThrownBy(() -> node.manager().checkLock(mine, id))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("rolled back");

        mine.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void lock_whose_row_was_swept_is_lost_and_not_too_new_for_the_snapshot() throws Exception {
        LockId id = kim();
        Lease lease = node.lease(LockName.of("b")).acquire(Wait.none());
        execute("UPDATE bitjang_locks SET expires_at = expires_at - 7200000000");
        assertThat(other.admin().sweep(Duration.ofHours(1))).isEqualTo(2);

        assertThatThrownBy(() -> node.manager().checkLock(mine, id))
                .isInstanceOf(NoLockException.class)
                .isNotInstanceOf(StaleSnapshotException.class);
        assertThatThrownBy(() -> lease.guard(mine)).isNotInstanceOf(StaleSnapshotException.class);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void lease_that_was_taken_by_another_refuses_the_guard_and_is_told_lost() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        expire(ORDER);
        other.lease(ORDER).acquire(Wait.none());
        pay();

        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);

        mine.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(told(Kind.LOST)).isEqualTo(1);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void guard_that_finds_the_lease_taken_away_says_by_whom() throws Exception {
        Lease lease = node.lease("job").acquire(Wait.none());
        other.admin().forceRelease(lease.name(), lease.fence(), "lee", "it hangs");

        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);

        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("lee", "it hangs"));
    }

    @Test
    void lease_that_was_given_back_guards_nothing() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        lease.close();
        pay();

        assertThatThrownBy(() -> lease.guard(mine))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("rolled back");

        mine.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void guard_of_several_locks_pins_each_of_them() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        expire(LockName.of("a"));
        expire(LockName.of("b"));
        group.guard(mine);

        assertThat(other.lease("a").tryAcquire()).isEmpty();
        assertThat(other.lease("b").tryAcquire()).isEmpty();
        mine.commit();
        assertThat(other.lease("a").tryAcquire()).isPresent();
        assertThat(other.lease("b").tryAcquire()).isPresent();
    }

    @Test
    void group_of_which_one_lock_is_lost_refuses_the_guard() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        expire(LockName.of("b"));
        other.lease("b").acquire(Wait.none());
        pay();

        assertThatThrownBy(() -> group.guard(mine)).isInstanceOf(NoLockException.class);

        mine.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void released_lease_goes_to_a_local_waiter_only_after_the_holders_transaction_has_ended() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        Job<Lease> next = start(() -> node.lease(ORDER).acquire(PATIENT)).untilItWaits();
        pay();
        lease.guard(mine);

        lease.close();

        assertThat(told(Kind.RELEASE_FAILED)).isEqualTo(1);
        assertThat(next.isDone()).isFalse();
        mine.commit();
        assertThat(next.result().fence()).isGreaterThan(lease.fence());
        assertThat(balance()).isZero();
    }

    @Test
    void operator_takes_a_guarded_lock_away_only_after_the_commit() throws Exception {
        Lease lease = other.lease(ORDER).acquire(Wait.none());
        lease.guard(mine);
        pay();
        AtomicInteger tries = new AtomicInteger();
        seen.before(sql -> tries.incrementAndGet());

        Job<Boolean> forced =
                start(() -> patiently(() -> node.admin().forceRelease(ORDER, lease.fence(), "ops", "why")));
        eventually("it was tried", () -> tries.get() >= 3);
        assertThat(forced.isDone()).isFalse();
        mine.commit();

        assertThat(forced.result()).isTrue();
        assertThat(balance()).isZero();
        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);
    }

    /** On a machine that stands still for two seconds one is told to try again. */
    private static <T> T patiently(Supplier<T> call) {
        while (true) {
            try {
                return call.get();
            } catch (LockingFailException e) {
                assertThat(e).hasMessageContaining("guards");
            }
        }
    }

    @Test
    void take_over_waits_for_the_guarded_transaction() throws Exception {
        kim();
        LockId id = node.manager()
                .takeOver(node.admin().find(ORDER).orElseThrow(), "kim", LONG, null, "again")
                .orElseThrow();
        node.manager().checkLock(mine, id);
        LockData seenNow = other.admin().find(ORDER).orElseThrow();
        AtomicInteger tries = new AtomicInteger();
        seen.before(sql -> tries.incrementAndGet());

        Job<Optional<LockId>> taking =
                start(() -> patiently(() -> node.manager().takeOver(seenNow, "lee", LONG, null, "urgent")));
        eventually("it was tried", () -> tries.get() >= 2);
        assertThat(taking.isDone()).isFalse();
        pay();
        mine.commit();

        assertThat(taking.result()).isPresent();
        assertThat(balance()).isZero();
    }

    @Test
    void release_in_the_transaction_takes_effect_when_and_only_when_it_commits() throws Exception {
        LockId id = kim();
        node.manager().releaseLock(mine, id);
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        mine.rollback();
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        node.manager().checkLock(id);

        pay();
        node.manager().releaseLock(mine, id);
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        mine.commit();
        assertThat(other.lease(ORDER).tryAcquire()).isPresent();
    }

    @Test
    void release_in_the_transaction_of_a_lock_that_another_has_rolls_it_back() throws Exception {
        LockId id = kim();
        expire(ORDER);
        LockId lee = other.manager().tryLock("order", "42", "lee");
        pay();

        assertThatThrownBy(() -> node.manager().releaseLock(mine, id)).isInstanceOf(NoLockException.class);

        mine.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(other.manager().checkLock(lee).held()).isTrue();
    }

    @Test
    void guard_is_one_statement_on_the_callers_connection_and_changes_no_setting() throws Exception {
        LockId id = kim();
        Connection callers = closing(seen.dataSource().getConnection());
        callers.setAutoCommit(false);
        seen.reset();

        node.manager().checkLock(callers, id);
        assertThat(seen.statements()).hasSize(1);
        node.manager().releaseLock(callers, id);
        assertThat(seen.statements()).hasSize(3);
        assertThat(seen.settings()).isEmpty();
        assertThat(seen.mostOpen()).isEqualTo(1);
        callers.commit();
    }
}
