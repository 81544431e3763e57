// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Lease.State;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Loss is told: by state, by exception and by callback, and not twice. */
class LossTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    private Lease lease() {
        return node.lease(JOB).acquire(Wait.none());
    }

    /** On another node, so nobody here knows yet. */
    private Lease takenAway() {
        Lease lease = lease();
        assertThat(other.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs"))
                .isTrue();
        return lease;
    }

    @Test
    void renewal_of_a_lost_lease_says_why_and_closing_does_not_repeat_it() {
        Lease lease = takenAway();

        assertThatThrownBy(lease::renew)
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("ops")
                .hasMessageContaining("it hangs");
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(lease.remaining()).isZero();
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("it hangs"));
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(told(Kind.LOST)).isEqualTo(1);
    }

    @Test
    void who_took_it_away_is_told_with_every_exception() throws Exception {
        Consumer<ThrowingCallable> saysSo = call -> assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        NoLockException.class, e -> assertThat(e.takenAwayBy()).contains("ops: it hangs"));
        Lease renewed = takenAway();
        saysSo.accept(renewed::renew);
        saysSo.accept(renewed::renew);
        saysSo.accept(takenAway()::close);
        Lease guarded = takenAway();
        Connection transaction = transaction();
        saysSo.accept(() -> guarded.guard(transaction));
        saysSo.accept(() -> guarded.guard(transaction));
        Lease here = lease();
        node.admin().forceRelease(JOB, here.fence(), "ops", "it hangs");
        saysSo.accept(here::close);
    }

    @Test
    void guard_that_is_refused_says_who_has_the_lock() throws Exception {
        Connection transaction = transaction();
        Lease forced = takenAway();
        assertThatThrownBy(() -> forced.guard(transaction))
                .hasMessageContaining("it was taken away by ops: it hangs, the transaction was rolled back");
        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        expire(id.name());
        LockId next = other.manager().tryLock("order", "42", "lee", LONG);

        for (ThrowingCallable guard : List.<ThrowingCallable>of(
                () -> node.manager().checkLock(transaction, id),
                () -> node.manager().releaseLock(transaction, id))) {
            assertThatThrownBy(guard)
                    .isInstanceOfSatisfying(
                            NoLockException.class,
                            e -> assertThat(e.takenAwayBy()).isEmpty())
                    .hasMessageContaining(
                            "it was taken by lee (fence " + next.fence() + "), the transaction was rolled");
        }
        Lease lease = lease();
        expire(JOB);
        other.lease(JOB).acquire(Wait.none());
        assertThatThrownBy(() -> lease.guard(transaction)).hasMessageContaining("it was taken by other");
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("it was taken by other"));
    }

    /** In the transaction's own snapshot the lock is still there. */
    @Test
    void guard_that_is_refused_in_an_old_snapshot_says_who_has_the_lock() throws Exception {
        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        Connection transaction = transaction();
        transaction.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        try (Statement statement = transaction.createStatement()) {
            statement.executeQuery("SELECT * FROM bitjang_locks");
        }
        expire(id.name());
        other.manager().tryLock("order", "42", "lee", LONG);

        assertThatThrownBy(() -> node.manager().checkLock(transaction, id))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("it was taken by lee");
    }

    @Test
    void lease_that_was_taken_over_says_by_whom_and_nobody_took_it_away() {
        Lease lease = lease();
        LockData seenNow = node.admin().find(JOB).orElseThrow();
        node.manager().takeOver(seenNow, "lee", LONG, null, "urgent");

        assertThatThrownBy(lease::close)
                .isInstanceOfSatisfying(
                        NoLockException.class, e -> assertThat(e.takenAwayBy()).isEmpty())
                .hasMessageContaining("lee");
    }

    @Test
    void loss_that_only_shows_at_the_release_is_told_there_once() {
        Lease lease = takenAway();

        assertThatThrownBy(lease::close).isInstanceOf(NoLockException.class).hasMessageContaining("it hangs");
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(told()).contains(Kind.LOST).doesNotContain(Kind.RELEASED);
    }

    @Test
    void lease_that_was_lost_unseen_throws_at_its_close_once() {
        Lease lease = lease();
        // the node itself hears of it without anybody's asking
        node.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");
        assertThat(told(Kind.LOST)).isEqualTo(1);

        assertThatThrownBy(lease::close).isInstanceOf(NoLockException.class).hasMessageContaining("it hangs");
        assertThatCode(lease::close).doesNotThrowAnyException();
    }

    @Test
    void to_write_a_lease_down_is_not_to_tell_its_holder() {
        Lease lease = lease();
        node.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");

        assertThat(lease.toString()).contains("LOST");

        assertThatThrownBy(lease::close).isInstanceOf(NoLockException.class);
    }

    @Test
    void grant_that_nobody_waited_for_and_that_was_lost_is_told_once() throws Exception {
        Lease first = lease();
        Gate answer = gate();
        Job<Lease> waits = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        seen.after(sql -> {
            if (sql.contains(":from") || sql.contains("GREATEST")) {
                answer.pass();
            }
        });
        Job<Object> closes = start(() -> {
            first.close();
            return "closed";
        });
        answer.untilReached();
        // the one it was handed to has gone, and another takes it away before that is known here
        waits.interrupt();
        assertThatThrownBy(waits::result).isInstanceOf(LockException.class);
        long fence = other.admin().find(JOB).orElseThrow().fence();
        assertThat(other.admin().forceRelease(JOB, fence, "ops", "it hangs")).isTrue();
        seen.up();
        answer.close();

        assertThat(closes.result()).isEqualTo("closed");
        eventually("the loss is told", () -> told(Kind.LOST) > 0);
        assertThat(events.stream().filter(event -> event.kind() == Kind.LOST && event.fence() == fence))
                .hasSize(1);
    }

    @Test
    void released_lease_calls_nobody_back_and_is_not_lost() {
        Queue<Lease> called = new ConcurrentLinkedQueue<>();
        Lease lease = lease().onLost(called::add);
        lease.close();
        lease.onLost(called::add);

        assertThat(lease.state()).isEqualTo(State.RELEASED);
        assertThatThrownBy(lease::renew).isInstanceOf(NoLockException.class).hasMessageContaining("given back");
        assertThat(called).isEmpty();
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void lease_ends_here_by_its_own_clock_though_nobody_renews_or_answers() throws Exception {
        Lease lease = node.lease(JOB).lasting(Duration.ofMillis(200)).acquire(Wait.none());
        down();

        eventually("told", () -> told(Kind.LOST) == 1);

        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("expired"));
    }

    @Test
    void to_ensure_what_is_left_asks_nobody_and_more_than_it_lasts_is_refused() {
        Lease lease = lease();
        seen.reset();
        lease.ensure(Duration.ofSeconds(1));
        assertThat(seen.statements()).isEmpty();

        assertThatThrownBy(() -> lease.ensure(LONG.plusSeconds(1))).isInstanceOf(NoLockException.class);
        assertThat(seen.statements()).hasSize(1);
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void database_that_fails_is_no_loss() {
        Lease lease = lease();
        seen.before(sql -> {
            throw new SQLException("The disk is full", "58000");
        });
        assertThatThrownBy(lease::renew).isInstanceOf(LockingFailException.class);
        seen.up();

        assertThat(lease.isHeld()).isTrue();
        lease.renew();
        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void thread_that_lost_its_lock_hears_of_it_when_it_enters_again_and_when_it_unlocks() {
        Lock lock = node.lease(JOB).asLock();
        lock.lock();
        lock.lock();
        node.admin().forceRelease(JOB, node.admin().find(JOB).orElseThrow().fence(), "ops", "it hangs");

        assertThatThrownBy(lock::lock).isInstanceOf(NoLockException.class);
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void thread_enters_its_lock_again_and_frees_it_as_often() {
        Lock lock = node.lease(JOB).asLock();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        assertThat(other.lease(JOB).tryAcquire()).isEmpty();
        lock.unlock();
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    /** What fails on the way to the reason begins a transaction, too. */
    @Test
    void guard_that_nobody_answers_leaves_no_transaction_open() throws Exception {
        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        Connection transaction = closing(seen.dataSource().getConnection());
        transaction.setAutoCommit(false);
        seen.before(sql -> {
            seen.reset();
            throw new SQLException("A deadlock", "40001");
        });

        assertThatThrownBy(() -> node.manager().checkLock(transaction, id)).isInstanceOf(LockingFailException.class);

        assertThat(seen.settings()).containsExactly("rollback");
    }

    @Test
    void it_is_told_that_a_lease_was_handed_over_before_it_is_told_that_it_was_lost() throws Exception {
        Gate handed = gate();
        List<Kind> heard = new CopyOnWriteArrayList<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.HANDED_OVER) {
                        handed.pass();
                    }
                    heard.add(event.kind());
                })
                .build());
        Lease first = mine.lease(JOB).acquire(Wait.none());
        Job<Lease> second = start(() -> mine.lease(JOB).acquire(PATIENT)).untilItWaits();
        start(() -> {
            first.close();
            return true;
        });
        handed.untilReached();

        long fence = mine.admin().find(JOB).orElseThrow().fence();
        assertThat(mine.admin().forceRelease(JOB, fence, "ops", "it hangs")).isTrue();
        handed.close();

        // it has either the lease that is lost or the next one
        catchThrowable(second.result()::renew);
        eventually("its loss is told", () -> heard.contains(Kind.LOST));
        assertThat(heard)
                .filteredOn(kind -> kind == Kind.HANDED_OVER || kind == Kind.LOST)
                .containsExactly(Kind.HANDED_OVER, Kind.LOST);
    }

    @Test
    void renewal_that_finds_the_lock_gone_needs_no_further_answer_to_say_so() {
        Lease lease = takenAway();
        seen.reset();
        seen.before(sql -> {
            if (seen.statements().size() > 2) {
                throw new SQLException("The disk is full", "58000");
            }
        });

        assertThatThrownBy(lease::renew).isInstanceOf(NoLockException.class).hasMessageContaining("ops");

        assertThat(seen.statements()).hasSize(2);
    }

    @Test
    void it_is_told_that_a_lease_passed_on_before_it_is_told_that_it_was_lost() throws Exception {
        Gate passedOn = gate();
        List<Kind> heard = new CopyOnWriteArrayList<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    // the second is given back by the one who lets it pass on, and has told nobody so far
                    if (event.kind() == Kind.RELEASED && heard.contains(Kind.RELEASED)) {
                        passedOn.pass();
                    }
                    heard.add(event.kind());
                })
                .build());
        Lease first = mine.lease(JOB).acquire(Wait.none());
        List<Job<Boolean>> next = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            next.add(start(() -> {
                        mine.lease(JOB).run(PATIENT, () -> {});
                        return true;
                    })
                    .untilItWaits());
        }
        first.close();
        passedOn.untilReached();
        eventually("the table knows who has it", () -> column("reserved", JOB).equals("0"));

        long fence = mine.admin().find(JOB).orElseThrow().fence();
        assertThat(mine.admin().forceRelease(JOB, fence, "ops", "it hangs")).isTrue();
        passedOn.close();

        catchThrowable(next.get(1)::result);
        eventually("its loss is told", () -> heard.contains(Kind.LOST));
        assertThat(heard)
                .filteredOn(kind -> kind == Kind.HANDED_OVER || kind == Kind.LOST)
                .containsExactly(Kind.HANDED_OVER, Kind.HANDED_OVER, Kind.LOST);
    }
}
