// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.SessionLock.Hold;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Locks that a session holds. */
class SessionTest extends OnH2 {

    private static final Wait BRIEF = Wait.upTo(Duration.ofMillis(100));

    @Test
    void held_lock_is_refused_to_everybody_else_and_free_when_it_is_closed() {
        Hold hold = node.session("a").acquire(Wait.none());

        assertThat(other.session("a").tryAcquire()).isEmpty();
        assertThat(node.session("a").tryAcquire()).isEmpty();
        assertThat(other.lease("a").tryAcquire())
                .as("nothing to do with a lease")
                .isPresent();
        hold.close();
        hold.close();

        assertThat(hold.isHeld()).isFalse();
        assertThat(other.session("a").tryAcquire()).isPresent();
        assertThat(told()).containsExactly(Kind.ACQUIRED, Kind.REFUSED, Kind.RELEASED);
    }

    @Test
    void threads_of_a_process_get_it_in_the_order_of_their_arrival() throws Exception {
        Hold hold = node.session("a").acquire(Wait.none());
        List<Integer> order = new CopyOnWriteArrayList<>();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger met = new AtomicInteger();
        List<Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            jobs.add(start(() -> node.session("a").call(PATIENT, () -> {
                        met.addAndGet(inside.getAndIncrement());
                        order.add(number);
                        inside.decrementAndGet();
                        return true;
                    }))
                    .untilItWaits());
        }
        hold.close();
        for (Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }

        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
        assertThat(met).hasValue(0);
    }

    @Test
    void it_passes_on_inside_the_process_without_a_statement() throws Exception {
        // those who wait are in line before it is taken: a run is 20 ms long
        for (int round = 0; ; round++) {
            String name = "a" + round;
            Gate gate = gate();
            seen.before(sql -> gate.pass());
            Job<Hold> first = start(() -> node.session(name).acquire(PATIENT));
            gate.untilReached();
            Job<Boolean> second =
                    start(() -> node.session(name).call(PATIENT, () -> true)).untilItWaits();
            seen.up();
            gate.close();
            Hold hold = first.result();
            seen.reset();
            events.clear();
            hold.close();
            assertThat(second.result()).isTrue();
            if (told().contains(Kind.HANDED_OVER)) {
                eventually("both gave it back", () -> told(Kind.RELEASED) == 2);
                eventually("free again", () -> other.session(name).tryRun(() -> {}));
                // the last gives it back; none was needed in between, but for the question whether the session lives
                assertThat(seen.statements())
                        .filteredOn(sql -> sql.contains(" FROM "))
                        .hasSizeLessThanOrEqualTo(2);
                return;
            }
            assertThat(round).as("the machine was too slow each time").isLessThan(20);
        }
    }

    @Test
    void other_process_gets_it_when_it_is_given_back() throws Exception {
        Hold hold = other.session("a").acquire(Wait.none());
        Job<Boolean> next =
                start(() -> node.session("a").call(PATIENT, () -> true)).untilItWaits();
        assertThatThrownBy(() -> node.session("a").acquire(BRIEF)).isInstanceOf(LockException.class);

        hold.close();

        assertThat(next.result()).isTrue();
    }

    @Test
    void it_is_held_until_all_its_holds_are_closed() {
        Hold hold = node.session("a").acquire(Wait.none());
        Hold again = hold.again();
        hold.close();
        assertThat(again.isHeld()).isTrue();
        assertThat(other.session("a").tryAcquire()).isEmpty();
        assertThatThrownBy(hold::again).isInstanceOf(NoLockException.class);

        again.close();

        assertThat(other.session("a").tryAcquire()).isPresent();
    }

    @Test
    void thread_that_would_wait_for_itself_is_told() {
        Hold hold = node.session("a").acquire(Wait.none());

        assertThatThrownBy(() -> node.session("a").acquire(PATIENT))
                .isInstanceOf(LockDeadlockException.class)
                .hasMessageContaining("again()");
        assertThatThrownBy(() -> node.session("b").acquire(Wait.forever())).isInstanceOf(IllegalStateException.class);
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    void circle_of_waiting_threads_is_found_at_once_and_the_others_go_on() throws Exception {
        Hold a = node.session("a").acquire(Wait.none());
        CountDownLatch hasB = new CountDownLatch(1);
        Job<Boolean> waits = start(() -> {
            try (Hold b = node.session("b").acquire(PATIENT)) {
                hasB.countDown();
                return node.session("a").call(PATIENT, () -> true);
            }
        });
        assertThat(hasB.await(20, TimeUnit.SECONDS)).isTrue();
        waits.untilItWaits();
        eventually("it waits for a", () -> node.admin().here().stream().anyMatch(lock -> lock.waiters() == 1));

        assertThatThrownBy(() -> node.session("b").acquire(PATIENT))
                .isInstanceOf(LockDeadlockException.class)
                .hasMessageContaining("a")
                .hasMessageContaining("b");

        a.close();
        assertThat(waits.result()).isTrue();
    }

    @Test
    void holder_of_a_session_that_died_is_told_and_another_may_take_it() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        Hold hold = node.session("a").acquire(Wait.none()).onLost(lost -> called.countDown());
        Hold silent = node.session("b").acquire(Wait.none());
        seen.cut();

        assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
        eventually("both told", () -> told(Kind.LOST) == 2);
        assertThat(hold.isHeld()).isFalse();
        assertThatCode(hold::close).doesNotThrowAnyException();
        assertThatThrownBy(silent::close).isInstanceOf(NoLockException.class);
        assertThatCode(silent::close).doesNotThrowAnyException();
        assertThat(other.session("a").call(PATIENT, () -> true)).isTrue();
        assertThat(node.session("a").call(PATIENT, () -> true)).isTrue();
    }

    @Test
    void loss_that_only_shows_when_it_is_given_back_is_told_there() throws Exception {
        Hold hold = node.session("a").acquire(Wait.none());
        seen.cut();

        // or was seen a moment before: nobody was told until now
        assertThatThrownBy(hold::close).isInstanceOf(NoLockException.class);
        assertThatCode(hold::close).doesNotThrowAnyException();
        assertThat(node.session("a").call(PATIENT, () -> true)).isTrue();
    }

    @Test
    void who_waits_in_this_process_does_not_inherit_a_lock_whose_session_died() throws Exception {
        Hold hold = node.session("a").acquire(Wait.none());
        Job<Boolean> next = start(() -> {
                    try (Hold mine = node.session("a").acquire(PATIENT)) {
                        return other.session("a").tryAcquire().isEmpty();
                    }
                })
                .untilItWaits();
        seen.cut();

        assertThat(next.result()).as("it is the database's again").isTrue();
        assertThat(hold.isHeld()).isFalse();
    }

    @Test
    void no_more_are_held_than_allowed() {
        Locks few = closing(builder().maxSessionLocks(1).build());
        Hold hold = few.session("a").acquire(Wait.none());

        assertThatThrownBy(() -> few.session("b").tryAcquire())
                .isInstanceOf(LockException.class)
                .hasMessageContaining("maxSessionLocks");
        hold.close();
        assertThat(few.session("b").tryAcquire()).isPresent();
    }

    @Test
    void interrupted_thread_leaves_with_its_flag_and_a_deadline_is_kept_though_the_database_hangs() throws Exception {
        Hold hold = node.session("a").acquire(Wait.none());
        Job<Boolean> waiter = start(() -> {
                    try {
                        node.session("a").acquire(Wait.forever());
                        return false;
                    } catch (LockException e) {
                        return Thread.currentThread().isInterrupted();
                    }
                })
                .untilItWaits();
        waiter.interrupt();
        assertThat(waiter.result()).isTrue();
        hold.close();

        Gate gate = gate();
        seen.before(sql -> gate.pass());
        assertThatThrownBy(() -> node.session("b").acquire(BRIEF)).isInstanceOf(LockingFailException.class);
    }

    @Test
    void database_that_fails_is_no_refusal() {
        down();

        assertThatThrownBy(() -> node.session("a").tryAcquire()).isInstanceOf(LockingFailException.class);
    }

    @Test
    void lock_of_a_transaction_is_freed_by_its_commit_and_its_failure_rolls_back() throws Exception {
        execute("CREATE TABLE account (balance INT)");
        Connection mine = transaction();
        String result = node.session("a").callInTransaction(mine, Wait.none(), () -> {
            mine.createStatement().executeUpdate("INSERT INTO account VALUES (1)");
            assertThat(other.session("a").tryAcquire()).isEmpty();
            return "done";
        });
        assertThat(result).isEqualTo("done");
        assertThat(other.session("a").tryRun(() -> {})).isTrue();

        assertThatThrownBy(() -> node.session("a").callInTransaction(mine, Wait.none(), () -> {
                    mine.createStatement().executeUpdate("INSERT INTO account VALUES (2)");
                    throw new IllegalArgumentException("no");
                }))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(other.session("a").tryRun(() -> {})).isTrue();
        assertThat(execute("DELETE FROM account")).isEqualTo(1);
    }

    @Test
    void lock_that_is_closed_while_its_instance_is_closed_was_not_lost() throws Exception {
        Gate told = gate();
        Locks mine = builder()
                .listener(event -> {
                    if (event.kind() == Kind.RELEASED) {
                        told.pass();
                    }
                })
                .build();
        SessionLock.Hold hold = mine.session("job").tryAcquire().orElseThrow();
        Job<Boolean> closes = start(() -> {
            hold.close();
            return true;
        });
        told.untilReached();
        mine.close();
        told.close();

        assertThat(closes.result()).isTrue();
    }

    /** Whoever times how long locks are held would otherwise count one that was given back. */
    @Test
    void it_is_told_that_a_lock_was_taken_before_it_is_told_that_it_was_given_back() throws Exception {
        Gate given = gate();
        List<Kind> heard = new CopyOnWriteArrayList<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() != Kind.RELEASED
                            && !Thread.currentThread().getName().equals("job")) {
                        // this thread is slow
                        given.pass();
                    }
                    heard.add(event.kind());
                })
                .build());

        start(() -> mine.session("a").call(PATIENT, () -> true)).result();
        given.close();

        eventually("both are told", () -> heard.size() == 2);
        assertThat(heard).containsExactly(Kind.ACQUIRED, Kind.RELEASED);
    }

    @Test
    void it_is_told_that_a_lock_was_passed_on_before_it_is_told_that_it_was_given_back_again() throws Exception {
        Gate given = gate();
        List<Kind> heard = new CopyOnWriteArrayList<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.HANDED_OVER
                            && !Thread.currentThread().getName().equals("job")) {
                        given.pass();
                    }
                    heard.add(event.kind());
                })
                .build());
        // the next is in line before the lock is taken: it is passed on for 20 ms
        for (int round = 0; !heard.contains(Kind.HANDED_OVER); round++) {
            assertThat(round).as("the machine was too slow each time").isLessThan(20);
            heard.clear();
            String name = "a" + round;
            Gate gate = gate();
            seen.before(sql -> gate.pass());
            Job<Hold> first = start(() -> mine.session(name).acquire(PATIENT));
            gate.untilReached();
            Job<Boolean> second =
                    start(() -> mine.session(name).call(PATIENT, () -> true)).untilItWaits();
            seen.up();
            gate.close();
            Hold hold = first.result();
            Job<Boolean> closes = start(() -> {
                Thread.currentThread().setName("first");
                hold.close();
                return true;
            });
            second.result();
            given.close();
            closes.result();
        }

        assertThat(heard).containsExactly(Kind.ACQUIRED, Kind.RELEASED, Kind.HANDED_OVER, Kind.RELEASED);
    }

    @Test
    void it_is_told_that_a_lock_was_taken_before_it_is_told_that_it_was_lost() throws Exception {
        assertThat(toldOfOneThatIsLostAtOnce(PATIENT)).containsExactly(Kind.ACQUIRED, Kind.LOST);
    }

    @Test
    void it_is_told_that_a_lock_was_taken_at_once_before_it_is_told_that_it_was_lost() throws Exception {
        assertThat(toldOfOneThatIsLostAtOnce(Wait.none())).containsExactly(Kind.ACQUIRED, Kind.LOST);
    }

    private List<Kind> toldOfOneThatIsLostAtOnce(Wait wait) throws Exception {
        Gate taken = gate();
        Thread test = Thread.currentThread();
        List<Kind> heard = new CopyOnWriteArrayList<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.ACQUIRED && Thread.currentThread() != test) {
                        taken.pass();
                    }
                    if (Thread.currentThread() != test) {
                        heard.add(event.kind());
                    }
                })
                .build());
        Job<Hold> job = start(() -> mine.session("a").acquire(wait));
        taken.untilReached();

        seen.cut();
        eventually(
                "its loss is noticed, and the lock is free again",
                () -> mine.session("a").tryAcquire().isPresent());
        taken.close();

        assertThatThrownBy(job::result).isInstanceOf(NoLockException.class);
        eventually("both are told", () -> heard.size() == 2);
        return heard;
    }
}
