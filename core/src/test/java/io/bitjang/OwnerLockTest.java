// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Locks by owner: only they let an owner enter again. */
class OwnerLockTest extends OnH2 {

    private static final LockName BATCH = LockName.of(DistLock.TYPE, "batch");

    private boolean tryLock(Locks locks, String owner, Duration duration) {
        return locks.distLock().tryLock("batch", owner, duration);
    }

    @Test
    void owner_enters_again_with_the_same_id_and_fence_and_never_a_shorter_expiry() throws Exception {
        assertThat(tryLock(node, "kim", LONG)).isTrue();
        String grant = column("lock_id || fence", BATCH);
        long expiry = Long.parseLong(column("expires_at", BATCH));

        assertThat(tryLock(node, "kim", Duration.ofMillis(1))).isTrue();
        assertThat(column("expires_at", BATCH)).isEqualTo(String.valueOf(expiry));
        assertThat(tryLock(other, "kim", LONG.multipliedBy(2))).isTrue();
        assertThat(Long.parseLong(column("expires_at", BATCH))).isGreaterThan(expiry);

        assertThat(column("lock_id || fence", BATCH)).isEqualTo(grant);
        assertThat(told()).containsExactly(Kind.ACQUIRED, Kind.REENTERED);
    }

    @Test
    void another_owner_is_refused_until_it_is_free() {
        assertThat(tryLock(node, "kim", LONG)).isTrue();
        assertThat(tryLock(node, "lee", LONG)).isFalse();
        assertThat(tryLock(other, "lee", LONG)).isFalse();

        node.distLock().unlock("batch", "kim");

        assertThat(tryLock(other, "lee", LONG)).isTrue();
        assertThat(told()).containsExactly(Kind.ACQUIRED, Kind.REFUSED, Kind.RELEASED);
    }

    @Test
    void only_who_took_it_here_unlocks_it_and_once() {
        tryLock(node, "kim", LONG);

        assertThatThrownBy(() -> other.distLock().unlock("batch", "kim")).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> node.distLock().unlock("batch", "lee")).isInstanceOf(NoLockException.class);
        node.distLock().unlock("batch", "kim");
        assertThatThrownBy(() -> node.distLock().unlock("batch", "kim")).isInstanceOf(NoLockException.class);
    }

    @Test
    void expired_lock_is_a_new_grant_even_for_its_owner_and_the_former_can_not_unlock_it() throws Exception {
        tryLock(node, "kim", LONG);
        long fence = Long.parseLong(column("fence", BATCH));
        expire(BATCH);

        assertThat(tryLock(other, "kim", LONG)).isTrue();

        assertThat(Long.parseLong(column("fence", BATCH))).isGreaterThan(fence);
        assertThatThrownBy(() -> node.distLock().unlock("batch", "kim")).isInstanceOf(NoLockException.class);
        assertThat(tryLock(node, "lee", LONG)).isFalse();
    }

    @Test
    void names_are_apart_from_those_of_leases() {
        tryLock(node, "kim", LONG);

        assertThat(other.lease("batch").tryAcquire()).isPresent();
    }

    @Test
    void database_that_fails_is_never_a_refusal() {
        down();

        assertThatThrownBy(() -> tryLock(node, "kim", LONG)).isInstanceOf(LockingFailException.class);
    }

    @Test
    void leases_and_offline_locks_do_not_enter_again_by_owner() {
        node.manager().tryLock("order", "42", "kim");

        assertThatThrownBy(() -> node.manager().tryLock("order", "42", "kim"))
                .isInstanceOf(AlreadyLockedException.class);
        assertThat(node.lease("job").owner("kim").tryAcquire()).isPresent();
        assertThat(node.lease("job").owner("kim").tryAcquire()).isEmpty();
    }
}
