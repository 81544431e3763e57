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

    /** One that takes its time would keep all other leases from being renewed. */
    @Test
    void listeners_are_not_told_by_the_thread_that_keeps_the_time() throws Exception {
        Queue<String> tellers = new ConcurrentLinkedQueue<>();
        Locks observed = closing(builder()
                .listener(event ->
                        tellers.add(event.kind() + " " + Thread.currentThread().getName()))
                .build());
        observed.lease(JOB).lasting(Duration.ofMillis(300)).acquire(Wait.none());
        down();

        eventually("it is told", () -> tellers.stream().anyMatch(teller -> teller.startsWith("LOST")));

        assertThat(tellers).noneMatch(teller -> teller.contains("bitjang-timer"));
    }

    @Test
    void each_callback_is_called_once_on_a_thread_of_the_librarys_and_a_late_one_at_once() throws Exception {
        Queue<String> called = new ConcurrentLinkedQueue<>();
        Lease lease = lease();
        lease.onLost(lost -> called.add(Thread.currentThread().getName()));
        lease.onLost(lost -> called.add(Thread.currentThread().getName()));
        node.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");
        eventually("both called", () -> called.size() == 2);
        lease.onLost(lost -> called.add(Thread.currentThread().getName()));
        eventually("the late one too", () -> called.size() == 3);

        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(called).hasSize(3).allSatisfy(name -> assertThat(name).startsWith("bitjang-callback"));
    }

    @Test
    void callbacks_that_take_their_time_cost_few_threads_and_hold_up_nobody_else_who_is_to_be_told() throws Exception {
        int many = 300;
        Gate slow = gate();
        Queue<String> called = new ConcurrentLinkedQueue<>();
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            String name = "many" + i;
            Lease lease = node.lease(name).acquire(Wait.none());
            leases.add(lease.onLost(lost -> slow.pass()).onLost(lost -> called.add(name)));
        }

        for (Lease lease : leases) {
            assertThat(node.admin().forceRelease(lease.name(), lease.fence(), "ops", "all of them"))
                    .isTrue();
        }

        assertThat(leases).allSatisfy(lease -> assertThat(lease.state()).isEqualTo(State.LOST));
        assertThat(told(Kind.LOST)).isEqualTo(many);
        assertThat(callbackThreads()).isBetween(1L, 16L);
        assertThat(called).isEmpty();
        slow.close();
        eventually("all were called", () -> called.size() == many);
        assertThat(called).doesNotHaveDuplicates();
    }

    private static long callbackThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("bitjang-callback"))
                .count();
    }

    @Test
    void callback_that_fails_with_an_error_does_not_keep_the_next_from_being_called() throws Exception {
        Gate next = gate();
        Lease lease = lease();
        lease.onLost(lost -> {
            throw new StackOverflowError("somebody else's");
        });
        lease.onLost(lost -> next.pass());

        node.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");

        next.untilReached();
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

    @Test
    void callback_that_was_left_before_the_loss_is_called_before_one_that_comes_after_it() throws Exception {
        Gate told = gate();
        Queue<String> called = new ConcurrentLinkedQueue<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.LOST) {
                        told.pass();
                    }
                })
                .build());
        Lease lease = mine.lease(JOB).acquire(Wait.none()).onLost(lost -> called.add("left before"));
        start(() -> mine.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs"));
        told.untilReached();

        lease.onLost(lost -> called.add("left after"));

        eventually("one is called", () -> !called.isEmpty());
        told.close();
        eventually("both are called", () -> called.size() == 2);
        assertThat(called).containsExactly("left before", "left after");
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
}
