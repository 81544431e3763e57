// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease.State;
import io.bitjang.NoLockException;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Ticker;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The monotonic clock stands still while a host is suspended; an answer may have been on its way meanwhile. */
class SuspendedHostTest extends OnEngine {

    /** The wall clock went on meanwhile, the monotonic one did not. */
    private static void sleepsForTwiceItsTime(LeaseHandle lease) {
        Clocks now = Ticker.SYSTEM.clocks();
        lease.seenAt(new Clocks(now.ticks(), now.wall() - 2 * LONG.toMillis()));
    }

    @Test
    void lease_that_ended_while_the_host_slept_is_in_doubt_at_once_and_lost_when_the_database_says_so()
            throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        expire(JOB);
        Gate asked = gate();
        seen.before(sql -> asked.pass());

        sleepsForTwiceItsTime(lease);

        assertThat(lease.state()).isEqualTo(State.UNKNOWN);
        assertThat(detail(Kind.UNKNOWN)).contains("suspended");
        asked.untilReached();
        asked.close();
        eventually("lost", () -> lease.state() == State.LOST);
    }

    @Test
    void answer_that_was_on_its_way_while_the_host_slept_confirms_nothing() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        Gate asked = gate();
        seen.before(sql -> asked.pass());
        Clocks now = Ticker.SYSTEM.clocks();

        lease.confirm(new Clocks(now.ticks(), now.wall() - 2 * LONG.toMillis()), LONG.toNanos());

        assertThat(lease.state()).isEqualTo(State.UNKNOWN);
        asked.untilReached();
    }

    @Test
    void answer_that_was_overtaken_by_a_newer_one_changes_nothing() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        Clocks now = Ticker.SYSTEM.clocks();
        Clocks beforeTheHostSlept = new Clocks(now.ticks() - 1, now.wall() - 2 * LONG.toMillis());
        assertThat(lease.confirm(now, LONG.toNanos())).isTrue();

        assertThat(lease.confirm(beforeTheHostSlept, LONG.toNanos())).isFalse();
        assertThat(lease.state()).isEqualTo(State.HELD);

        assertThat(lease.doubt(State.UNKNOWN, beforeTheHostSlept)).isFalse();
        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(lease.doubt(State.UNKNOWN, now)).isTrue();
        lease.confirm(beforeTheHostSlept, LONG.toNanos());
        assertThat(lease.state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void lock_does_not_pass_on_without_a_statement_after_the_host_slept() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        assertThat(lease.mayHaveSlept()).isFalse();
        Gate asked = gate();
        seen.before(sql -> asked.pass());

        sleepsForTwiceItsTime(lease);

        assertThat(lease.mayHaveSlept()).isTrue();
        FenceReserve<LeaseHandle> fences = new FenceReserve<>(lease, lease.fence(), Ticker.SYSTEM.now());
        assertThat(engine.run(engine.grants.begun(engine.grants.passedOn(lease, fences, request())))
                        .state())
                .isEqualTo(State.UNKNOWN);
    }

    @Test
    void wall_clock_that_steps_costs_a_question_and_no_lease() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);

        sleepsForTwiceItsTime(lease);
        lease.state();

        untilTold(Kind.RENEWED);
        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(told(Kind.UNKNOWN)).isEqualTo(1);
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void wall_clock_that_goes_back_is_nobodys_concern() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        Clocks now = Ticker.SYSTEM.clocks();

        lease.seenAt(new Clocks(now.ticks(), now.wall() + LONG.toMillis()));

        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(told()).containsExactly(Kind.ACQUIRED);
    }

    @Test
    void time_that_the_host_slept_is_not_left_of_the_lease() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        Clocks now = Ticker.SYSTEM.clocks();
        lease.seenAt(new Clocks(now.ticks(), now.wall() - 2 * THIRD.toMillis()));

        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(lease.remaining()).isLessThanOrEqualTo(THIRD);
        assertThat(told(Kind.RENEWED)).isZero();

        lease.ensure(LONG.dividedBy(2));

        assertThat(told(Kind.RENEWED)).isPositive();
        assertThat(lease.remaining()).isGreaterThan(LONG.dividedBy(2));
    }

    @Test
    void to_ensure_what_is_left_of_a_lease_in_doubt_asks_the_database() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        expire(JOB);
        sleepsForTwiceItsTime(lease);

        assertThatThrownBy(() -> lease.ensure(Duration.ofSeconds(1))).isInstanceOf(NoLockException.class);
    }
}
