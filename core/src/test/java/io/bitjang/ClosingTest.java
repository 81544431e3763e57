// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease.State;
import io.bitjang.SessionLock.Hold;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A closed instance gives back what it had, fails who waits, and does nothing more. */
class ClosingTest extends OnH2 {

    @Test
    void all_leases_are_given_back_in_one_statement_and_offline_locks_stay() {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            leases.add(node.lease("many" + i).acquire(Wait.none()));
        }
        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        node.distLock().tryLock("batch", "kim", LONG);
        seen.reset();

        node.close();
        node.close();

        assertThat(seen.statements()).hasSize(1);
        assertThat(leases).allSatisfy(lease -> {
            assertThat(lease.state()).isEqualTo(State.RELEASED);
            assertThat(other.lease(lease.name()).tryAcquire()).isPresent();
        });
        assertThatCode(leases.get(0)::close).doesNotThrowAnyException();
        assertThat(other.manager().checkLock(id).held()).isTrue();
        assertThat(other.distLock().tryLock("batch", "lee", LONG)).isFalse();
    }

    @Test
    void who_closes_it_while_another_does_returns_when_leases_are_given_back() throws Exception {
        Locks mine = closing(builder().closeTimeout(LONG).build());
        mine.lease("job").acquire(Wait.none());

        closedTwiceAtOnce(mine);

        assertThat(other.lease("job").tryAcquire()).isPresent();
    }

    @Test
    void who_closes_it_while_another_does_returns_when_session_locks_are_given_back() throws Exception {
        Locks mine = closing(builder().closeTimeout(LONG).build());
        mine.session("job").acquire(Wait.none());

        closedTwiceAtOnce(mine);

        assertThat(other.session("job").tryAcquire()).isPresent();
    }

    /** Returns when the second has done, which came while the first was at it. */
    private void closedTwiceAtOnce(Locks locks) throws Exception {
        Gate gate = gate();
        seen.before(sql -> closingGate(gate));
        seen.onClose(() -> closingGate(gate));
        start(() -> closed(locks));
        gate.untilReached();
        Job<String> second = start(() -> closed(locks)).untilItIsIn("Deadline.await");
        gate.close();

        assertThat(second.result()).isEqualTo("closed");
    }

    /** Stops those who give back, but not the threads for whose end every closer waits. */
    private static void closingGate(Gate gate) {
        String thread = Thread.currentThread().getName();
        if (thread.startsWith("bitjang-closing") || thread.startsWith("bitjang-aside")) {
            gate.pass();
        }
    }

    private static String closed(Locks locks) {
        locks.close();
        return "closed";
    }

    @Test
    void closing_takes_its_time_out_at_most_however_many_leases_there_are() {
        Duration timeOut = Duration.ofMillis(300);
        int leases = 100;
        Locks brief = closing(builder().closeTimeout(timeOut).build());
        for (int i = 0; i < leases; i++) {
            brief.lease("many" + i).acquire(Wait.none());
        }
        // as a pool does that has no connection to give
        Gate silent = gate();
        seen.before(sql -> {
            silent.pass();
            throw new SQLException("The database is down", "08001");
        });
        long begun = System.nanoTime();

        brief.close();

        // far less than a time-out for each, and long enough for a machine that stands still meanwhile
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(timeOut.multipliedBy(leases / 3));
    }

    @Test
    void closing_on_an_interrupted_thread_gives_back_all_the_same() {
        node.lease("job").acquire(Wait.none());

        Thread.currentThread().interrupt();
        node.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(other.lease("job").tryAcquire()).isPresent();
    }

    @Test
    void lease_that_was_closed_under_a_guard_is_free_after_the_commit_though_its_instance_is_closed() throws Exception {
        Locks brief = closing(builder().closeTimeout(Duration.ofMillis(50)).build());
        Lease lease = brief.lease("job").acquire(Wait.none());
        Connection transaction = transaction();
        lease.guard(transaction);
        lease.close();
        brief.close();
        assertThat(other.lease("job").tryAcquire()).isEmpty();

        transaction.commit();

        eventually("it is free", () -> other.lease("job").tryAcquire().isPresent());
    }

    @Test
    void closing_thread_that_a_data_source_leaves_interrupted_pauses_and_gives_back_in_the_end() throws Exception {
        Locks mine = builder().closeTimeout(Duration.ofMillis(100)).build();
        mine.lease("a").acquire(Wait.none());
        Connection holds = locked(LockName.of("a"));
        AtomicInteger visits = new AtomicInteger();
        seen.onClose(() -> {
            if (Thread.currentThread().getName().equals("bitjang-closing")) {
                visits.incrementAndGet();
                Thread.currentThread().interrupt();
            }
        });
        mine.close();
        long began = System.nanoTime();
        int before = visits.get();
        eventually("tried again", () -> visits.get() > before + 40);
        // a round visits twice, then pauses for 7.5 ms at least: 20 pauses last 150 ms or more; without them, there are
        // thousands of visits a second
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(120));

        holds.rollback();

        eventually("free", () -> other.lease("a").tryAcquire().isPresent());
    }

    @Test
    void locked_row_that_may_not_be_free_yet_does_not_keep_the_others() throws Exception {
        Locks mine = builder().closeTimeout(Duration.ofMillis(500)).build();
        mine.lease("minimum").notFreeBefore(LONG).acquire(Wait.none());
        mine.lease("job").acquire(Wait.none());
        seen.before(sql -> {
            if (sql.contains("c.acquired_at +")) {
                throw new SQLException("The row is locked", "HYT00", 50200);
            }
        });

        mine.close();

        assertThat(other.lease("job").tryAcquire()).isPresent();
    }

    @Test
    void lease_that_is_closed_while_its_instance_is_closed_is_free_afterwards() throws Exception {
        Lease lease = node.lease("job").acquire(Wait.none());
        Gate release = gate();
        seen.before(sql -> {
            // who only reads is not kept by a locked row; a database that does not even answer that is soon given up
            if (sql.contains("UPDATE")) {
                release.pass();
                throw new SQLException("The row is locked", "HYT00", 50200);
            }
        });
        Job<Object> closes = start(() -> {
            lease.close();
            return "closed";
        });
        release.untilReached();

        // it finds nothing to give back
        node.close();
        release.close();
        assertThat(closes.result()).isEqualTo("closed");
        seen.up();

        eventually("it is free", () -> other.lease("job").tryAcquire().isPresent());
    }

    @Test
    void attempt_without_a_thread_that_is_under_way_ends() throws Exception {
        Gate attempt = gate();
        Thread test = Thread.currentThread();
        seen.before(sql -> {
            if (Thread.currentThread() != test) {
                attempt.pass();
            }
        });
        CompletableFuture<Lease> promise =
                node.lease("job").acquireAsync(Wait.none()).toCompletableFuture();
        attempt.untilReached();
        Job<Object> closes = start(() -> {
            node.close();
            return "closed";
        });
        eventually("it is closed", () -> {
            try {
                node.admin().find(LockName.of("job"));
                return false;
            } catch (IllegalStateException e) {
                return true;
            }
        });

        seen.up();
        attempt.close();

        assertThatThrownBy(() -> promise.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(LockException.class);
        assertThat(closes.result()).isEqualTo("closed");
        eventually("it is free", () -> other.lease("job").tryAcquire().isPresent());
    }

    /** More than the threads can begin with. */
    @Test
    void attempts_without_a_thread_that_have_not_begun_end() throws Exception {
        Locks brief = closing(builder().closeTimeout(Duration.ofMillis(100)).build());
        Gate silent = gate();
        AtomicInteger begun = new AtomicInteger();
        seen.before(sql -> {
            begun.incrementAndGet();
            silent.pass();
        });
        List<CompletableFuture<Lease>> promises = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            promises.add(brief.lease("many" + i).acquireAsync(Wait.none()).toCompletableFuture());
        }
        // all of them: one that is free would end those that have not begun
        eventually("every thread hangs", () -> begun.get() == 16);

        brief.close();

        for (CompletableFuture<Lease> promise : promises) {
            assertThatThrownBy(() -> promise.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(LockException.class);
        }
    }

    /** The thread that completes futures in time is the whole JVM's. */
    @Test
    void connection_that_can_neither_be_closed_nor_cut_holds_up_nobody() throws Exception {
        Gate stuck = gate();
        seen.onClose(() -> {
            if (Thread.currentThread().getName().startsWith("bitjang-aside")) {
                stuck.pass();
            }
        });
        Locks brief = closing(builder().closeTimeout(Duration.ofMillis(100)).build());
        brief.session("job").acquire(Wait.none());

        Job<String> closes = start(() -> {
            brief.close();
            return "closed";
        });

        stuck.untilReached();
        assertThat(closes.result()).isEqualTo("closed");
        assertThat(new CompletableFuture<String>()
                        .completeOnTimeout("in time", 10, TimeUnit.MILLISECONDS)
                        .get(20, TimeUnit.SECONDS))
                .isEqualTo("in time");
    }

    @Test
    void closing_leaves_taken_what_may_not_be_free_yet() {
        node.lease("job").notFreeBefore(LONG).acquire(Wait.none());

        node.close();

        assertThat(other.lease("job").tryAcquire()).isEmpty();
    }

    @Test
    void who_waits_is_told() throws Exception {
        other.lease("job").acquire(Wait.none());
        Job<Lease> thread = start(() -> node.lease("job").acquire(PATIENT)).untilItWaits();
        CompletableFuture<Lease> promise =
                node.lease("job").acquireAsync(Wait.forever()).toCompletableFuture();
        Hold hold = node.session("a").acquire(Wait.none());
        Job<Hold> session = start(() -> node.session("a").acquire(PATIENT)).untilItWaits();

        node.close();

        assertThatThrownBy(thread::result).isInstanceOf(LockException.class).hasMessageContaining("closed");
        assertThatThrownBy(session::result).isInstanceOf(LockException.class).hasMessageContaining("closed");
        assertThatThrownBy(() -> promise.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(LockException.class);
        assertThat(hold.isHeld()).isFalse();
        assertThat(other.session("a").call(PATIENT, () -> true)).isTrue();
        eventually("no connection is left", () -> seen.open() == 0);
    }

    @Test
    void grant_that_comes_while_it_is_closed_is_given_back() throws Exception {
        Gate gate = gate();
        seen.after(sql -> gate.pass());
        Job<Lease> late = start(() -> node.lease("job").acquire(Wait.none()));
        gate.untilReached();

        node.close();
        gate.close();

        assertThatThrownBy(late::result).isInstanceOf(IllegalStateException.class);
        assertThat(other.lease("job").acquire(PATIENT).isHeld()).isTrue();
    }

    @Test
    void nothing_is_to_be_had_any_more() throws Exception {
        Lease lease = node.lease("job").acquire(Wait.none());
        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        node.close();
        seen.reset();

        assertThatThrownBy(() -> node.lease("a").tryAcquire()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.lease("a").acquire(PATIENT)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.lease("a").acquireAsync(PATIENT)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.manager().checkLock(id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.manager().releaseLock(id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.distLock().tryLock("a", "kim", LONG)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.session("a").tryAcquire()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.admin().counts()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(lease::renew).isInstanceOf(IllegalStateException.class);
        assertThat(seen.statements()).isEmpty();
        assertThat(seen.open()).isZero();
    }

    @Test
    void release_that_was_put_off_is_tried_once_more() {
        Lease lease = node.lease("job").acquire(Wait.none());
        down();
        lease.close();
        seen.up();

        node.close();

        assertThat(other.lease("job").tryAcquire()).isPresent();
    }

    @Test
    void closing_says_in_the_log_which_locks_it_has_left_to_end_by_themselves() {
        Locks brief = closing(builder().closeTimeout(Duration.ofMillis(300)).build());
        brief.lease("left").acquire(Wait.none());
        down();
        LogLines log = closing(LogLines.warnings());

        brief.close();

        assertThat(log.lines()).anyMatch(line -> line.contains("1 locks") && line.contains("left"));
    }
}
