// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * A wait never outlives its deadline, whatever the database does; and who gave up waiting never ends up with the lock. A wait
 * that hung would hang for ever here, so that the bounds can be wide.
 */
public abstract class WaitingDeadlineContract extends OnObservedLocks {

    private static final Duration LIMIT = Duration.ofMillis(400);
    private static final Duration BOUND = Duration.ofSeconds(15);

    /** Waits for a database that does not answer, and says how it ended. */
    private LockException waitInVain(Locks mine) throws Exception {
        return waitInVain(mine, LIMIT);
    }

    /** Waits in vain and says how it ended. */
    private LockException waitInVain(Locks mine, Duration limit) throws Exception {
        var waiter = crew.start(() -> {
            long begin = System.nanoTime();
            try {
                mine.lease(name("job")).acquire(Wait.upTo(limit));
                throw new AssertionError("granted");
            } catch (LockException e) {
                assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(limit.minusMillis(5), BOUND);
                return e;
            }
        });
        return waiter.result();
    }

    private void assertFree() {
        other.lease(name("job")).acquire(Wait.upTo(BOUND)).close();
    }

    @Test
    void a_wait_for_a_lock_that_stays_held_ends_at_its_deadline() throws Exception {
        other.lease(name("job")).owner("kim").acquire(Wait.none());

        assertThat(waitInVain(node, IN_VAIN))
                .isInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("kim");
    }

    @Test
    void a_wait_behind_other_waiters_ends_at_its_deadline() throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.none());
        var first = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        first.untilItWaits();

        assertThat(waitInVain(node, IN_VAIN)).isInstanceOf(AlreadyLockedException.class);

        held.close();
        first.result().close();
        assertFree();
    }

    @Test
    void a_wait_ends_at_its_deadline_when_statements_hang() throws Exception {
        Gate gate = hang();

        assertThat(waitInVain(node))
                .as("nobody has the lock: the database does not answer")
                .isInstanceOf(LockingFailException.class);

        gate.open();
        assertFree();
    }

    @Test
    void a_wait_ends_at_its_deadline_when_the_database_hangs_later() throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(2))));
        waiter.untilItWaits();
        hang();

        assertThatThrownBy(waiter::result).isInstanceOf(LockException.class);
        held.close();
    }

    @Test
    void a_wait_ends_at_its_deadline_when_no_connection_can_be_had() throws Exception {
        Gate gate = new Gate();
        AtomicBoolean shut = new AtomicBoolean();
        Locks mine = closing(
                Locks.builder(gate.before(pool, shut::get)).owner("mine").build());
        closing(gate);
        shut.set(true);

        assertThat(waitInVain(mine)).isInstanceOf(LockingFailException.class);
    }

    @Test
    void a_wait_on_an_exhausted_pool_ends_at_its_deadline() throws Exception {
        var small = closing(database.pool(1));
        Locks mine = closing(Locks.builder(small).owner("mine").build());
        try (Connection taken = small.getConnection()) {
            assertThat(taken.isClosed()).isFalse();
            assertThat(waitInVain(mine)).isInstanceOf(LockingFailException.class);
        }
        mine.lease(name("job")).acquire(Wait.upTo(BOUND)).close();
    }

    @Test
    void every_wait_ends_at_its_deadline_when_many_hang() throws Exception {
        Gate gate = hang();
        List<Crew.Job<LockException>> threads = new ArrayList<>();
        List<CompletableFuture<Lease>> stages = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            String each = name("many" + i);
            threads.add(crew.start(() -> {
                try {
                    node.lease(each).acquire(Wait.upTo(LIMIT));
                    throw new AssertionError("granted");
                } catch (LockException e) {
                    return e;
                }
            }));
            stages.add(
                    node.lease(name("async" + i)).acquireAsync(Wait.upTo(LIMIT)).toCompletableFuture());
        }

        for (Crew.Job<LockException> thread : threads) {
            assertThat(thread.result()).isInstanceOf(LockingFailException.class);
        }
        for (CompletableFuture<Lease> stage : stages) {
            assertThatThrownBy(() -> Crew.result(stage)).hasCauseInstanceOf(LockingFailException.class);
        }
        gate.open();
        other.lease(name("many7")).acquire(Wait.upTo(BOUND)).close();
        other.lease(name("async24")).acquire(Wait.upTo(BOUND)).close();
    }

    @Test
    void a_wait_during_which_everything_fails_says_why_and_does_not_hammer() throws Exception {
        seen.onStatement(sql -> {
            throw new SQLException("The disk is full", "53100");
        });

        LockException end = waitInVain(node, IN_VAIN);

        assertThat(end).isInstanceOf(LockingFailException.class).hasMessageContaining("The disk is full");
        assertThat(end).hasRootCauseInstanceOf(SQLException.class);
        assertThat(seen.roundTrips()).as("attempts in %s", IN_VAIN).isBetween(1, 12);
    }

    @Test
    void a_wait_on_broken_connections_says_why_and_does_not_hammer() throws Exception {
        down();

        LockException end = waitInVain(node, IN_VAIN);

        assertThat(end).isInstanceOf(LockingFailException.class).hasMessageContaining("down");
        assertThat(end).hasRootCauseInstanceOf(SQLException.class);
        // an attempt without an answer is looked into before the next one
        assertThat(seen.roundTrips()).as("statements in %s", IN_VAIN).isBetween(1, 60);
        up();
        assertFree();
    }

    @Test
    void a_wait_survives_failures_and_gets_the_lock_when_the_database_is_back() throws Exception {
        down();
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        Crew.eventually("tried in vain", () -> seen.roundTrips() > 2);
        assertThat(waiter.isDone()).isFalse();

        up();

        waiter.result().close();
    }

    @Test
    void who_gave_up_never_ends_up_with_the_lock() throws Exception {
        Gate gate = closing(new Gate());
        // the lock is granted, but its answer comes too late
        seen.afterStatement(sql -> gate.pass());
        var late = crew.start(() -> node.lease(name("job")).acquire(Wait.upTo(LIMIT)));
        gate.untilReached();
        assertThatThrownBy(late::result).isInstanceOf(LockException.class);

        up();
        gate.open();

        assertFree();
    }

    @Test
    void a_grant_for_one_who_gave_up_goes_to_the_next_in_line() throws Exception {
        Gate gate = closing(new Gate());
        seen.afterStatement(sql -> gate.pass());
        var late = crew.start(() -> node.lease(name("job")).acquire(Wait.upTo(LIMIT)));
        gate.untilReached();
        var next = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        next.untilItWaits();
        assertThatThrownBy(late::result).isInstanceOf(LockException.class);

        up();
        gate.open();

        next.result().close();
        assertFree();
    }

    @Test
    void an_interrupt_is_heard_while_the_database_hangs() throws Exception {
        Gate gate = hang();
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        gate.untilReached();
        waiter.untilItWaits();

        waiter.interrupt();

        assertThatThrownBy(waiter::result)
                .isInstanceOf(LockException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        gate.open();
        assertFree();
    }
}
