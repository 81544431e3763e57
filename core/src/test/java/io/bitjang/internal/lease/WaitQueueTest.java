// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.time.HandTicker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitQueueTest {

    private static final List<LockName> NAMES = List.of(LockName.of("job"));
    private static final Request SEEN = Request.of("kim", Duration.ofMinutes(1), null);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final HandTicker ticker = new HandTicker();
    private final FairShare share = new FairShare(ticker);
    private final WaitQueue queue = new WaitQueue(ticker, NAMES, share);

    private LeaseWaiter add(Request request) {
        LeaseWaiter waiter = new LeaseWaiter(ticker, NAMES, request, Wait.forever());
        assertThat(queue.add(waiter)).isTrue();
        return waiter;
    }

    private static void leave(LeaseWaiter waiter) {
        waiter.fail(new LockException(null, "gone", null));
    }

    @Test
    void only_the_first_competes_and_one_attempt_is_made_at_a_time() {
        LeaseWaiter first = add(SEEN);
        LeaseWaiter second = add(SEEN);

        assertThat(queue.isFirst(first)).isTrue();
        assertThat(queue.isFirst(second)).isFalse();
        assertThat(queue.beginAttempt()).isSameAs(first);
        assertThat(queue.beginAttempt()).isNull();
        assertThat(queue.nextPoll()).as("not while it is tried").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void news_during_an_attempt_lead_to_one_more_unless_it_was_granted() {
        add(SEEN);
        queue.beginAttempt();
        assertThat(queue.attempted(false)).isFalse();
        queue.beginAttempt();
        queue.beginAttempt();
        assertThat(queue.attempted(false)).isTrue();
        queue.beginAttempt();
        queue.beginAttempt();
        assertThat(queue.attempted(true)).isFalse();
        queue.beginAttempt();
        assertThat(queue.attempted(false)).as("forgotten").isFalse();
    }

    @Test
    void those_who_have_gone_are_passed_by() {
        LeaseWaiter first = add(SEEN);
        LeaseWaiter second = add(SEEN);
        leave(first);

        assertThat(queue.size()).isEqualTo(1);
        assertThat(queue.next()).isSameAs(second);
        assertThat(queue.beginAttempt()).isSameAs(second);
    }

    @Test
    void empty_queue_is_retired_and_takes_nobody_any_more_but_not_while_it_is_tried_for() {
        LeaseWaiter only = add(SEEN);
        queue.beginAttempt();
        leave(only);
        assertThat(queue.retireIfEmpty()).isFalse();
        queue.attempted(false);

        assertThat(queue.retireIfEmpty()).isTrue();
        assertThat(queue.add(new LeaseWaiter(ticker, NAMES, SEEN, Wait.forever())))
                .isFalse();
    }

    @Test
    void fences_are_set_aside_only_for_those_who_see_no_lease_and_ask_for_the_same() {
        Request unseen = SEEN.asUnseen();
        LeaseWaiter first = add(unseen);
        assertThat(queue.reserveFor(first)).as("nobody to pass it on to").isZero();
        add(unseen);
        assertThat(queue.reserveFor(first)).isEqualTo(FenceReserve.RESERVED);

        assertThat(unseen.passesOnTo(unseen)).isTrue();
        assertThat(SEEN.passesOnTo(SEEN)).as("could be guarded").isFalse();
        assertThat(unseen.passesOnTo(unseen.ownedBy("lee"))).isFalse();
        assertThat(unseen.passesOnTo(unseen.lasting(Duration.ofMinutes(2)))).isFalse();
        assertThat(unseen.heldAtMost(Duration.ofMinutes(2)).passesOnTo(unseen.heldAtMost(Duration.ofMinutes(2))))
                .isFalse();
        assertThat(unseen.notFreeBefore(Duration.ofMinutes(2)).passesOnTo(unseen.notFreeBefore(Duration.ofMinutes(2))))
                .isFalse();
    }

    @Test
    void next_look_is_soon_not_after_the_holders_end_and_later_after_failures() {
        add(SEEN);
        queue.lookAgain(Long.MAX_VALUE, 0, 7);
        assertThat(untilNextPoll()).isBetween(SECOND / 20, SECOND / 16);
        queue.lookAgain(2_000_000, MINUTE, 7);
        assertThat(untilNextPoll()).as("the holder's end").isEqualTo(2_000_000);
        queue.lookAgain(Long.MAX_VALUE, MINUTE, 7);
        assertThat(untilNextPoll()).isEqualTo(MINUTE);

        queue.failed();
        assertThat(untilNextPoll()).isEqualTo(SECOND / 5);
        queue.failed();
        queue.failed();
        queue.failed();
        queue.failed();
        assertThat(untilNextPoll()).as("doubles, but not for ever").isEqualTo(SECOND * 8 / 5);
    }

    @Test
    void lock_that_does_not_change_hands_is_looked_at_seldom_and_often_again_when_it_does() {
        add(SEEN);
        for (int looks = 0; looks < 200; looks++) {
            queue.lookAgain(Long.MAX_VALUE, 0, 7);
        }
        assertThat(untilNextPoll()).isBetween(SECOND / 5, SECOND / 4);
        queue.lookAgain(Long.MAX_VALUE, 0, 8);
        assertThat(untilNextPoll()).isBetween(SECOND / 20, SECOND / 16);
    }

    private long untilNextPoll() {
        return queue.nextPoll() - ticker.now();
    }

    @Test
    void nobody_tries_while_this_process_stands_back_until_its_turn_comes() {
        add(SEEN);
        share.freed(true, true, true, false);

        assertThat(share.standsBack()).isTrue();
        assertThat(queue.beginAttempt()).isNull();
        assertThat(untilNextPoll()).isEqualTo(SECOND / 2);
        share.comes();
        assertThat(queue.beginAttempt()).isNotNull();
    }

    @Test
    void next_look_can_be_put_off() {
        add(SEEN);
        queue.notBefore(ticker.now() + MINUTE);

        assertThat(untilNextPoll()).isEqualTo(MINUTE);
    }

    @Test
    void look_is_not_later_than_the_end_of_the_standing_back() {
        add(SEEN);
        share.freed(true, true, true, false);
        queue.lookAgain(Long.MAX_VALUE, MINUTE, 7);

        assertThat(untilNextPoll()).isEqualTo(SECOND / 2);
    }

    @Test
    void fence_of_the_latest_look_is_remembered() {
        assertThat(queue.hasSeen(7)).isFalse();
        queue.lookAgain(Long.MAX_VALUE, 0, 7);
        assertThat(queue.hasSeen(7)).isTrue();
        queue.lookAgain(Long.MAX_VALUE, 0, 8);
        assertThat(queue.hasSeen(7)).isFalse();
    }

    @Test
    void free_lock_is_left_to_others_at_every_other_look() {
        assertThat(queue.leaveToOthers()).isTrue();
        assertThat(queue.leaveToOthers()).as("they did not take it").isFalse();
        assertThat(queue.leaveToOthers()).isTrue();
        queue.lookAgain(Long.MAX_VALUE, 0, 0);
        assertThat(queue.leaveToOthers()).as("still free").isFalse();
        queue.leaveToOthers();
        queue.lookAgain(Long.MAX_VALUE, 0, 7);
        assertThat(queue.leaveToOthers()).as("held since").isTrue();
    }

    @Test
    void lock_that_stays_in_one_hand_is_looked_at_less_often_step_by_step() {
        add(SEEN);
        looks(40);
        assertThat(untilNextPoll()).isBetween(SECOND / 20, SECOND / 16);
        looks(1);
        assertThat(untilNextPoll()).isBetween(SECOND / 10, SECOND / 8);
        looks(39);
        assertThat(untilNextPoll()).isBetween(SECOND / 10, SECOND / 8);
        looks(1);
        assertThat(untilNextPoll()).isBetween(SECOND / 5, SECOND / 4);
    }

    private void looks(int times) {
        for (int look = 0; look < times; look++) {
            queue.lookAgain(Long.MAX_VALUE, 0, 7);
        }
    }

    @Test
    void those_who_have_gone_are_not_counted() {
        LeaseWaiter first = add(SEEN);
        add(SEEN);
        add(SEEN);
        assertThat(queue.size()).isEqualTo(3);

        leave(first);

        assertThat(queue.size()).isEqualTo(2);
        assertThat(queue.waiters()).hasSize(3);
    }

    @Test
    void nothing_is_set_aside_if_the_next_one_sees_its_lease() {
        Request unseen = SEEN.asUnseen();
        LeaseWaiter first = add(unseen);
        add(SEEN);

        assertThat(queue.reserveFor(first)).isZero();
    }

    @Test
    void looks_are_counted_so_that_one_that_was_overtaken_is_known() {
        int before = queue.looks();
        queue.lookAgain(Long.MAX_VALUE, 0, 7);
        queue.lookAgain(Long.MAX_VALUE, 0, 7);

        assertThat(queue.looks()).isEqualTo(before + 2);
        queue.notBefore(ticker.now());
        assertThat(queue.looks()).as("what was freed here is news").isEqualTo(before + 3);
    }
}
