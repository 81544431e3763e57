// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Who waits gets it in turn, leaves in time, and takes nothing along. */
class WaitingTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    private static final Wait BRIEF = Wait.upTo(Duration.ofMillis(100));

    private List<Long> fences() {
        return events.stream()
                .filter(event -> event.kind() == Kind.ACQUIRED || event.kind() == Kind.HANDED_OVER)
                .map(LockEvent::fence)
                .toList();
    }

    @Test
    void threads_of_a_process_get_it_in_the_order_of_their_arrival() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            jobs.add(start(() -> {
                        try (Lease lease = node.lease(JOB).acquire(PATIENT)) {
                            return order.add(number);
                        }
                    })
                    .untilItWaits());
        }
        held.close();
        for (Job<Boolean> job : jobs) {
            job.result();
        }

        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
        assertThat(fences()).hasSize(7).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void hand_over_is_one_statement_and_a_grant_of_its_own() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        String before = column("lock_id", JOB);
        Job<Lease> next =
                start(() -> node.lease(JOB).owner("next").acquire(PATIENT)).untilItWaits();
        eventually("it stands in line", () -> waiters() == 1);
        seen.reset();

        held.close();
        Lease handed = next.result();

        assertThat(told()).containsExactly(Kind.ACQUIRED, Kind.RELEASED, Kind.HANDED_OVER);
        // next to what one who waits sees when it looks, once a second
        assertThat(seen.statements()).filteredOn(sql -> sql.contains("UPDATE")).hasSize(1);
        assertThat(handed.fence()).isGreaterThan(held.fence());
        assertThat(column("lock_id", JOB)).isNotEqualTo(before);
        assertThat(column("owner", JOB)).isEqualTo("next");
        held.close();
        assertThat(handed.isHeld()).isTrue();
        handed.renew();
    }

    private int waiters() {
        return node.admin().here().stream().mapToInt(lock -> lock.waiters()).sum();
    }

    @Test
    void one_who_comes_later_knows_what_those_before_it_were_told() throws Exception {
        other.lease(JOB).owner("lee").acquire(Wait.none());
        start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        eventually("marked", () -> other.admin().find(JOB).orElseThrow().wanted());
        Gate looks = gate();
        seen.before(sql -> looks.pass());
        looks.untilReached();

        assertThatThrownBy(() -> node.lease(JOB).acquire(BRIEF))
                .isInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("lee");
    }

    @Test
    void one_who_has_gone_is_passed_by() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        Job<Lease> gone = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        Job<Lease> stays = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        gone.interrupt();
        assertThatThrownBy(gone::result).isInstanceOf(LockException.class);

        held.close();

        assertThat(stays.result().isHeld()).isTrue();
    }

    @Test
    void lock_of_another_process_is_taken_when_it_is_freed_and_that_one_knows_of_the_wait() throws Exception {
        Lease held = other.lease(JOB).acquire(Wait.none());
        Job<Lease> next = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        eventually("marked", () -> other.admin().find(JOB).orElseThrow().wanted());

        held.close();

        assertThat(next.result().fence()).isGreaterThan(held.fence());
        assertThat(told()).contains(Kind.REFUSED, Kind.ACQUIRED);
    }

    @Test
    void row_that_a_guarded_transaction_has_locked_is_looked_at_no_more_often_than_any_other() throws Exception {
        Lease lease = other.lease(JOB).acquire(Wait.none());
        Connection guarding = transaction();
        lease.guard(guarding);
        AtomicInteger statements = new AtomicInteger();
        seen.before(sql -> statements.incrementAndGet());
        long began = System.nanoTime();
        Job<Lease> waiting = start(() -> node.lease(JOB).acquire(PATIENT));
        eventually("looked at several times", () -> statements.get() > 20);
        // a look and a mark every 50 ms at most, but for the first moment
        assertThat(statements.get()).isLessThanOrEqualTo(6 + 2 * (int) ((System.nanoTime() - began) / 50_000_000));

        guarding.commit();
        lease.close();
        assertThat(waiting.result().isHeld()).isTrue();
    }

    @Test
    void lock_of_a_process_that_died_is_taken_when_it_has_expired() throws Exception {
        other.manager().tryLock(JOB.type(), JOB.id(), "dead", LONG);
        Job<Lease> next = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        eventually("refused", () -> told(Kind.REFUSED) > 0);

        expire(JOB);

        assertThat(next.result().isHeld()).isTrue();
        assertThat(told()).contains(Kind.TAKEN_OVER);
    }

    @Test
    void wait_in_vain_ends_at_its_deadline_and_says_who_had_it() {
        other.manager().tryLock(JOB.type(), JOB.id(), "kim", LONG);

        assertThatThrownBy(() -> node.lease(JOB).acquire(Wait.upTo(Duration.ofMillis(400))))
                .isInstanceOfAny(AlreadyLockedException.class, LockingFailException.class)
                .hasMessageMatching("(?s).*(kim|has not answered).*");
        assertThat(waiters()).isZero();
    }

    @Test
    void brief_wait_in_vain_says_who_had_it_in_the_same_process() throws Exception {
        node.lease(JOB).owner("kim").acquire(Wait.none());

        eventually("a wait was long enough to find out", () -> {
            try {
                node.lease(JOB).acquire(Wait.upTo(Duration.ofMillis(600)));
                return false;
            } catch (AlreadyLockedException e) {
                return e.holder().filter(holder -> "kim".equals(holder.owner())).isPresent();
            } catch (LockingFailException e) {
                return false;
            }
        });
    }

    @Test
    void deadline_is_kept_though_the_database_hangs() throws Exception {
        Gate gate = gate();
        seen.before(sql -> gate.pass());

        // the gate is shut until the end of the test
        assertThatThrownBy(() -> node.lease(JOB).acquire(BRIEF))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("has not answered")
                .hasMessageContaining("notifications(false)");
        assertThatThrownBy(() -> node.lease("b")
                        .acquireAsync(BRIEF)
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockingFailException.class);
    }

    @Test
    void database_that_fails_is_no_refusal() {
        down();

        assertThatThrownBy(() -> node.lease(JOB).tryAcquire()).isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> node.lease(JOB).acquire(Wait.upTo(Duration.ofMillis(50))))
                .isInstanceOf(LockingFailException.class);
    }

    @Test
    void grant_that_comes_after_its_waiter_has_gone_is_given_back() throws Exception {
        Gate gate = gate();
        seen.after(sql -> gate.pass());
        assertThatThrownBy(() -> node.lease(JOB).acquire(BRIEF)).isInstanceOf(LockingFailException.class);
        gate.untilReached();
        assertThat(other.lease(JOB).tryAcquire()).as("granted to nobody").isEmpty();

        gate.close();

        assertThat(other.lease(JOB).acquire(PATIENT).isHeld()).isTrue();
    }

    @Test
    void interrupted_thread_leaves_with_its_flag_and_without_the_lock() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        AtomicBoolean flag = new AtomicBoolean();
        Job<Boolean> waiter = start(() -> {
                    try {
                        node.lease(JOB).acquire(Wait.forever());
                        return false;
                    } catch (LockException e) {
                        flag.set(Thread.currentThread().isInterrupted());
                        return e.getCause() instanceof InterruptedException;
                    }
                })
                .untilItWaits();
        waiter.interrupt();

        assertThat(waiter.result()).isTrue();
        assertThat(flag).isTrue();
        held.close();
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void lock_that_does_not_hear_interrupts_keeps_the_flag_and_one_that_does_throws() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        Lock lock = node.lease(JOB).asLock();
        Job<Boolean> deaf = start(() -> {
                    lock.lock();
                    boolean flag = Thread.interrupted();
                    lock.unlock();
                    return flag;
                })
                .untilItWaits();
        Job<Boolean> listening = start(() -> {
                    node.lease(JOB).asLock().lockInterruptibly();
                    return true;
                })
                .untilItWaits();
        listening.interrupt();
        assertThatThrownBy(listening::result).isInstanceOf(InterruptedException.class);
        deaf.interrupt();
        held.close();

        assertThat(deaf.result()).isTrue();
        assertThat(other.lease(JOB).acquire(PATIENT).isHeld()).isTrue();
    }

    @Test
    void wait_without_a_thread_ends_with_the_lease_and_a_cancelled_one_takes_nothing() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        CompletableFuture<Lease> cancelled =
                node.lease(JOB).acquireAsync(PATIENT).toCompletableFuture();
        CompletableFuture<Lease> next = node.lease(JOB).acquireAsync(PATIENT).toCompletableFuture();
        cancelled.cancel(true);
        held.close();

        Lease lease = next.get(20, TimeUnit.SECONDS);
        lease.close();
        assertThat(other.lease(JOB).acquire(PATIENT).isHeld()).isTrue();
        assertThatThrownBy(() -> node.lease(JOB)
                        .acquireAsync(Wait.none())
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(AlreadyLockedException.class);
    }

    @Test
    void wait_without_a_thread_that_its_caller_has_ended_otherwise_keeps_nothing() throws Exception {
        Lease held = other.lease(JOB).acquire(Wait.none());
        CompletableFuture<Lease> promise =
                node.lease(JOB).acquireAsync(Wait.forever()).toCompletableFuture();
        promise.completeExceptionally(new TimeoutException("the caller's own limit"));

        eventually("nobody waits", () -> node.admin().here().isEmpty());
        held.close();
        // an attempt that was under way may still be granted: it is given back at once
        assertThat(other.lease(JOB).acquire(PATIENT).isHeld()).isTrue();
    }

    /** So many stand in line behind a holder, who closes. */
    private void passOn(int threads, Runnable task) throws Exception {
        Lease first = node.lease(JOB).acquire(Wait.none());
        List<Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            jobs.add(start(() -> {
                        node.lease(JOB).run(PATIENT, task::run);
                        return true;
                    })
                    .untilItWaits());
        }
        seen.reset();
        first.close();
        for (Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }
    }

    @Test
    void leases_that_nobody_sees_pass_on_without_a_statement_one_inside_at_a_time() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger met = new AtomicInteger();
        int threads = 30;
        passOn(threads, () -> {
            met.addAndGet(inside.getAndIncrement());
            inside.decrementAndGet();
        });

        assertThat(met).hasValue(0);
        assertThat(told(Kind.HANDED_OVER)).isEqualTo(threads);
        assertThat(fences()).hasSize(threads + 1).doesNotHaveDuplicates().isSorted();
        // a run lasts 20 ms: a few on a busy machine
        assertThat(seen.statements()).hasSizeLessThan(threads);
        long last = fences().get(threads);
        assertThat(other.lease(JOB).acquire(PATIENT).fence()).isGreaterThan(last);
    }

    @Test
    void table_learns_which_of_those_who_passed_it_on_has_it() throws Exception {
        Lease first = node.lease(JOB).acquire(Wait.none());
        Gate inside = gate();
        List<Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            boolean last = i == 3;
            jobs.add(start(() -> {
                        node.lease(JOB).run(PATIENT, () -> {
                            if (last) {
                                inside.pass();
                            }
                        });
                        return true;
                    })
                    .untilItWaits());
        }
        first.close();
        inside.untilReached();
        long present = fences().get(4);

        eventually("settled", () -> column("fence || ' ' || reserved", JOB).equals(present + " 0"));
        assertThat(other.admin().forceRelease(JOB, fences().get(3), "ops", "late"))
                .isFalse();
        inside.close();
        for (Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }
        assertThatCode(() -> other.lease(JOB).acquire(PATIENT).close()).doesNotThrowAnyException();
    }

    @Test
    void those_who_wait_learn_when_a_lock_that_may_not_be_free_yet_will_be() throws Exception {
        Lease held = node.lease(JOB).notFreeBefore(LONG).acquire(Wait.none());
        start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        eventually("it stands in line", () -> waiters() == 1);

        held.close();

        // it tries, and learns the end; whoever only looks now and then is not told that it was refused
        eventually("tried", () -> told(Kind.REFUSED) > 0);
    }

    @Test
    void lock_that_nobody_got_because_the_waiter_had_gone_is_free_however_long_it_was_to_stay_taken() throws Exception {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> node.lease(JOB).notFreeBefore(LONG).acquire(PATIENT))
                .isInstanceOf(LockException.class);
        assertThat(Thread.interrupted()).isTrue();

        eventually(
                "its attempt was granted and given back",
                () -> other.admin().find(JOB).filter(lock -> !lock.held()).isPresent());
    }
}
