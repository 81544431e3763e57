// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease.State;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.time.Clocks;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a lease knows of itself, without a clock, a thread or a database. */
class LeaseStateTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long BEGAN = 1_000 * SECOND;
    private static final long LASTS = 30 * SECOND;

    private final LeaseState lease = new LeaseState(at(0), BEGAN + LASTS);

    /** Both clocks so many nanoseconds after the lease began, on a host that never slept. */
    private static Clocks at(long nanos) {
        return afterSleep(nanos, 0);
    }

    /** Both clocks so many nanoseconds after the lease began, the wall clock so far ahead. */
    private static Clocks afterSleep(long nanos, long slept) {
        return new Clocks(BEGAN + nanos, (nanos + slept) / 1_000_000);
    }

    @Test
    void begins_as_held_until_its_deadline() {
        assertThat(lease.now()).isEqualTo(State.HELD);
        assertThat(lease.active()).isTrue();
        assertThat(lease.deadline()).isEqualTo(BEGAN + LASTS);
        assertThat(lease.isOverdue(BEGAN + LASTS - 1)).isFalse();
        assertThat(lease.isOverdue(BEGAN + LASTS)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void is_active_unless_it_is_lost_or_given_back(State state) {
        assertThat(LeaseState.isActive(state)).isEqualTo(state != State.LOST && state != State.RELEASED);
    }

    @Test
    void lasts_from_before_the_request_was_sent_that_confirmed_it() {
        assertThat(lease.confirm(at(10 * SECOND), LASTS)).isTrue();

        assertThat(lease.deadline()).isEqualTo(BEGAN + 10 * SECOND + LASTS);
        assertThat(lease.confirmedAt()).isEqualTo(at(10 * SECOND));
    }

    @Test
    void answers_to_requests_of_the_same_moment_count_both() {
        assertThat(lease.confirm(at(SECOND), LASTS)).isTrue();
        assertThat(lease.confirm(at(SECOND), LASTS)).isTrue();
    }

    @Test
    void confirmation_for_a_shorter_time_does_not_shorten_it() {
        assertThat(lease.confirm(at(10 * SECOND), SECOND)).isTrue();

        assertThat(lease.deadline()).isEqualTo(BEGAN + LASTS);
    }

    @Test
    void answer_that_a_newer_one_has_overtaken_changes_nothing_but_the_deadline() {
        lease.confirm(at(10 * SECOND), SECOND);
        lease.doubt(State.AT_RISK, at(10 * SECOND));

        assertThat(lease.confirm(at(9 * SECOND), LASTS)).isFalse();

        assertThat(lease.now()).isEqualTo(State.AT_RISK);
        assertThat(lease.confirmedAt()).isEqualTo(at(10 * SECOND));
        assertThat(lease.deadline()).isEqualTo(BEGAN + 9 * SECOND + LASTS);
    }

    @Test
    void confirmation_after_a_sleep_shortens_what_a_clock_promised_that_did_not_count_the_sleep() {
        assertThat(lease.confirm(afterSleep(10 * SECOND, 5 * SECOND), 15 * SECOND))
                .isTrue();

        assertThat(lease.deadline()).isEqualTo(BEGAN + 25 * SECOND);
    }

    @Test
    void answer_from_before_a_sleep_says_nothing_after_one_from_after_it() {
        lease.confirm(afterSleep(10 * SECOND, 5 * SECOND), 15 * SECOND);

        assertThat(lease.confirm(at(9 * SECOND), LASTS)).isFalse();

        assertThat(lease.deadline()).isEqualTo(BEGAN + 25 * SECOND);
    }

    @Test
    void clocks_that_differ_by_a_second_shorten_nothing() {
        lease.confirm(afterSleep(10 * SECOND, SECOND), SECOND);
        assertThat(lease.deadline()).isEqualTo(BEGAN + LASTS);

        lease.confirm(at(9 * SECOND), LASTS);
        assertThat(lease.deadline()).isEqualTo(BEGAN + 9 * SECOND + LASTS);
    }

    @Test
    void is_in_doubt_until_it_is_confirmed() {
        assertThat(lease.doubt(State.UNKNOWN, at(SECOND))).isTrue();
        assertThat(lease.doubt(State.UNKNOWN, at(SECOND))).as("that is not new").isFalse();
        assertThat(lease.now()).isEqualTo(State.UNKNOWN);
        assertThat(lease.active()).isTrue();

        lease.confirm(at(2 * SECOND), LASTS);

        assertThat(lease.now()).isEqualTo(State.HELD);
    }

    @Test
    void doubt_from_before_the_last_confirmation_counts_for_nothing() {
        lease.confirm(at(2 * SECOND), LASTS);

        assertThat(lease.doubt(State.UNKNOWN, at(2 * SECOND - 1))).isFalse();
        assertThat(lease.now()).isEqualTo(State.HELD);
        assertThat(lease.doubt(State.UNKNOWN, at(2 * SECOND)))
                .as("from the same moment")
                .isTrue();
    }

    @Test
    void given_back_it_is_never_lost_doubtful_or_held_again() {
        assertThat(lease.release()).isTrue();

        assertThat(lease.release()).isFalse();
        assertThat(lease.lose(false, Gone.lost("late"))).isFalse();
        assertThat(lease.doubt(State.AT_RISK, at(SECOND))).isFalse();
        lease.confirm(at(SECOND), LASTS);
        assertThat(lease.now()).isEqualTo(State.RELEASED);
        assertThat(lease.active()).isFalse();
        assertThat(lease.isOverdue(BEGAN + 100 * LASTS)).isFalse();
        assertThat(lease.tellWhyLost()).isNull();
    }

    @Test
    void lost_it_is_never_given_back_lost_again_or_held_again() {
        assertThat(lease.lose(false, Gone.lost("first"))).isTrue();

        assertThat(lease.release()).isFalse();
        assertThat(lease.lose(false, Gone.lost("second"))).isFalse();
        assertThat(lease.lose(true, Gone.lost("third"))).isFalse();
        lease.confirm(at(SECOND), LASTS);
        assertThat(lease.now()).isEqualTo(State.LOST);
        assertThat(lease.isOverdue(BEGAN + 100 * LASTS)).isFalse();
        assertThat(lease.tellWhyLost()).isEqualTo(Gone.lost("first"));
    }

    @Test
    void may_turn_out_at_the_release_to_have_been_lost() {
        assertThat(lease.lose(true, Gone.lost("it is not given back yet"))).isFalse();
        lease.release();

        assertThat(lease.lose(true, Gone.lost("taken"))).isTrue();
        assertThat(lease.now()).isEqualTo(State.LOST);
        assertThat(lease.tellWhyLost()).isEqualTo(Gone.lost("taken"));
    }

    @Test
    void loss_is_untold_until_the_holder_hears_of_it() {
        assertThat(lease.tellIfUntold()).isFalse();
        lease.lose(false, Gone.lost("taken"));
        assertThat(lease.now()).isEqualTo(State.LOST);
        assertThat(lease.tellIfUntold())
                .as("whoever only looks has told nobody")
                .isTrue();

        assertThat(lease.tell()).isEqualTo(State.LOST);

        assertThat(lease.tellIfUntold()).isFalse();
    }

    @Test
    void of_two_who_close_a_lost_lease_one_is_told() {
        lease.lose(false, Gone.lost("taken"));

        assertThat(lease.tellIfUntold()).isTrue();
        assertThat(lease.tellIfUntold()).isFalse();
    }

    @Test
    void whoever_asks_for_the_reason_is_told() {
        lease.lose(false, Gone.lost("taken"));

        assertThat(lease.tellWhyLost()).isEqualTo(Gone.lost("taken"));

        assertThat(lease.tellIfUntold()).isFalse();
    }

    @Test
    void state_that_is_told_before_the_loss_tells_nothing_of_it() {
        lease.tell();

        lease.lose(false, Gone.lost("taken"));

        assertThat(lease.tellIfUntold()).isTrue();
    }

    @Test
    void callback_tells_the_holder() {
        lease.callsBack();

        lease.lose(false, Gone.lost("taken"));

        assertThat(lease.tellIfUntold()).isFalse();
    }

    @Test
    void callback_that_comes_after_the_loss_tells_the_holder() {
        lease.lose(false, Gone.lost("taken"));

        lease.callsBack();

        assertThat(lease.tellIfUntold()).isFalse();
    }

    @Test
    void callback_of_a_lease_that_was_given_back_tells_the_holder_in_case_it_was_lost() {
        lease.release();
        lease.callsBack();

        lease.lose(true, Gone.lost("taken"));

        assertThat(lease.tellIfUntold()).isFalse();
    }

    @Test
    void clocks_that_differ_by_a_second_are_no_sleep() {
        assertThat(lease.slept(afterSleep(0, SECOND))).isZero();
        assertThat(lease.slept(afterSleep(0, SECOND + 1_000_000))).isEqualTo(SECOND + 1_000_000);
        assertThat(lease.slept(afterSleep(0, -10 * SECOND))).isZero();
    }

    @Test
    void sleep_past_the_deadline_makes_it_doubtful_once_for_each_confirmation() {
        assertThat(lease.doubtfulSince(at(LASTS))).as("awake all the time").isNull();
        assertThat(lease.doubtfulSince(afterSleep(SECOND, LASTS - SECOND - 1_000_000)))
                .as("some time is left")
                .isNull();

        assertThat(lease.doubtfulSince(afterSleep(SECOND, LASTS - SECOND))).isEqualTo(at(0));
        assertThat(lease.doubtfulSince(afterSleep(SECOND, LASTS)))
                .as("it was asked about")
                .isNull();

        lease.confirm(at(SECOND), LASTS);
        assertThat(lease.doubtfulSince(afterSleep(2 * SECOND, LASTS))).isEqualTo(at(SECOND));
    }

    @Test
    void sleep_of_a_lease_that_has_ended_is_nobodys_concern() {
        lease.release();

        assertThat(lease.doubtfulSince(afterSleep(SECOND, LASTS))).isNull();
    }

    @Test
    void what_is_known_can_be_taken_over_from_another_lease() {
        lease.confirmedAt(afterSleep(0, -10 * SECOND));

        assertThat(lease.slept(at(0))).isEqualTo(10 * SECOND);
    }
}
