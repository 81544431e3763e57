// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
    void unlocking_on_an_interrupted_thread_waits_for_a_row_that_is_locked_for_a_moment() throws Exception {
        tryLock(node, "kim", LONG);
        Connection locking = locked(BATCH);
        seen.after(sql -> locking.rollback());

        Thread.currentThread().interrupt();
        node.distLock().unlock("batch", "kim");

        assertThat(Thread.interrupted()).isTrue();
        assertThat(tryLock(other, "lee", LONG)).isTrue();
    }

    @Test
    void lock_that_was_taken_again_for_less_is_remembered_for_as_long_as_it_lasts() {
        tryLock(node, "kim", Duration.ofHours(10));
        tryLock(node, "kim", Duration.ofMillis(1));
        for (int i = 0; i < 1001; i++) {
            node.distLock().tryLock("other" + i, "kim", Duration.ofMillis(1));
        }

        node.distLock().unlock("batch", "kim");

        assertThat(tryLock(other, "lee", LONG)).isTrue();
    }

    @Test
    void locks_that_ended_by_themselves_are_forgotten_when_there_are_many() {
        for (int i = 0; i < 1001; i++) {
            node.distLock().tryLock("job" + i, "kim", Duration.ofMillis(1));
        }

        assertThatThrownBy(() -> node.distLock().unlock("job0", "kim"))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("did not take");
    }

    /** The answer of the attempt and all that is tried then are lost; the lock is taken all the same. */
    private void takeWithoutKnowing() {
        loseAnswerAndStayDown();
        assertThatThrownBy(() -> tryLock(node, "kim", LONG)).isInstanceOf(LockingFailException.class);
    }

    private void loseAnswerAndStayDown() {
        seen.after(sql -> {
            down();
            throw new SQLException("The answer is lost", "08006");
        });
    }

    @Test
    void lock_taken_again_after_an_answer_was_lost_is_not_given_back_behind_its_owner() throws Exception {
        takeWithoutKnowing();
        Thread test = Thread.currentThread();
        CountDownLatch triedToRelease = new CountDownLatch(2);
        // those in the background do nothing until the lock was taken again: at no moment is the database simply up
        Gate again = gate();
        seen.after(sql -> {
            if (Thread.currentThread() != test) {
                triedToRelease.countDown();
            }
        });
        seen.before(sql -> {
            if (Thread.currentThread() != test) {
                again.pass();
            }
        });

        assertThat(tryLock(node, "kim", LONG)).isTrue();
        long fence = Long.parseLong(column("fence", BATCH));
        again.close();
        assertThat(triedToRelease.await(30, TimeUnit.SECONDS)).isTrue();

        assertThat(tryLock(other, "lee", LONG)).isFalse();
        assertThat(column("fence", BATCH)).isEqualTo(String.valueOf(fence));
        node.distLock().unlock("batch", "kim");
        assertThat(tryLock(other, "lee", LONG)).isTrue();
    }

    @Test
    void lock_whose_answer_was_lost_is_given_back_if_its_owner_does_not_take_it_again() throws Exception {
        takeWithoutKnowing();
        assertThat(tryLock(other, "lee", LONG)).isFalse();

        seen.up();

        eventually("it is free", () -> tryLock(other, "lee", LONG));
    }

    @Test
    void leases_and_offline_locks_do_not_enter_again_by_owner() {
        node.manager().tryLock("order", "42", "kim");

        assertThatThrownBy(() -> node.manager().tryLock("order", "42", "kim"))
                .isInstanceOf(AlreadyLockedException.class);
        assertThat(node.lease("job").owner("kim").tryAcquire()).isPresent();
        assertThat(node.lease("job").owner("kim").tryAcquire()).isEmpty();
    }

    @Test
    void unlock_frees_what_was_taken_last_however_late_an_earlier_answer_is_used() throws Exception {
        Gate told = gate();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.REENTERED) {
                        told.pass();
                    }
                })
                .build());
        DistLock locks = mine.distLock();
        assertThat(locks.tryLock("late", "o", LONG)).isTrue();
        Job<Boolean> again = start(() -> locks.tryLock("late", "o", LONG));
        told.untilReached();
        locks.unlock("late", "o");
        assertThat(locks.tryLock("late", "o", LONG)).as("another grant").isTrue();
        told.close();
        again.result();

        locks.unlock("late", "o");

        assertThat(other.distLock().tryLock("late", "p", LONG)).as("free").isTrue();
    }

    @Test
    void lock_whose_unlock_got_no_answer_is_taken_anew_and_not_entered_again() throws Exception {
        DistLock locks = node.distLock();
        LockName name = LockName.of(DistLock.TYPE, "job");
        assertThat(locks.tryLock("job", "o", LONG)).isTrue();
        String before = column("lock_id", name);
        seen.before(sql -> {
            throw new SQLException("The answer never came", "08006");
        });
        assertThatThrownBy(() -> locks.unlock("job", "o")).isInstanceOf(LockingFailException.class);
        seen.up();

        assertThat(locks.tryLock("job", "o", LONG)).isTrue();

        // the unlock may yet arrive: it frees what it was meant for, and nothing else
        assertThat(column("lock_id", name)).isNotEqualTo(before);
        locks.unlock("job", "o");
        assertThat(other.distLock().tryLock("job", "p", LONG)).isTrue();
    }
}
