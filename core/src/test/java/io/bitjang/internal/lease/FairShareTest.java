// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.internal.time.HandTicker;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long a process keeps a lock that others want, and how long it stands back. */
class FairShareTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final HandTicker ticker = new HandTicker();
    private final FairShare share = new FairShare(ticker);

    private void pass(int millis) {
        ticker.pass(Duration.ofMillis(millis));
    }

    @Test
    void turn_is_bounded_only_while_others_wait() {
        assertThat(share.goesOn(false)).isTrue();
        share.granted(false);
        ticker.pass(Duration.ofMillis(101));
        assertThat(share.goesOn(false)).as("nobody else wants it").isTrue();
        share.handedOver(true);
        ticker.pass(Duration.ofMillis(100));
        assertThat(share.goesOn(false)).as("not longer than 100 ms").isTrue();
        ticker.pass(Duration.ofNanos(1));
        assertThat(share.goesOn(false)).as("others have waited for 100 ms").isFalse();
        share.freed(true, false, true, false);
        assertThat(share.standsBack()).isTrue();
        assertThat(share.isOver()).isFalse();
        ticker.pass(Duration.ofMillis(75));
        assertThat(share.standsBack()).isFalse();
        assertThat(share.isOver())
                .as("what is known about the others is worth nothing")
                .isTrue();
    }

    @Test
    void process_stands_back_for_as_long_as_others_need_to_hear_that_the_lock_is_free() {
        long now = ticker.now();
        assertThat(share.freed(false, false, true, false) - now)
                .as("nobody waits")
                .isZero();
        assertThat(share.freed(true, false, true, false) - now)
                .as("it had the lock for a moment only")
                .isZero();
        ticker.pass(Duration.ofMillis(21));
        now = ticker.now();
        assertThat(share.freed(true, false, true, false) - now).as("they poll").isEqualTo(3 * SECOND / 40);
        ticker.pass(Duration.ofMillis(21));
        now = ticker.now();
        assertThat(share.freed(true, false, true, true) - now)
                .as("they are notified")
                .isEqualTo(3 * SECOND / 200);
        assertThat(share.freed(true, true, true, true) - now)
                .as("they stand in line")
                .isEqualTo(SECOND / 2);
        assertThat(share.freed(true, true, false, false) - now)
                .as("a line in which nobody from here stands")
                .isEqualTo(3 * SECOND / 40);
    }

    @Test
    void fifty_hand_overs_are_enough_once_others_have_waited_for_a_moment() {
        share.granted(true);
        for (int handOvers = 0; handOvers < 50; handOvers++) {
            share.handedOver(true);
        }
        ticker.pass(FenceReserve.LONGEST);
        assertThat(share.goesOn(false)).as("fast ones don't count").isTrue();
        ticker.pass(Duration.ofNanos(1));
        assertThat(share.goesOn(false)).isFalse();
    }

    @Test
    void moment_of_twenty_milliseconds_is_not_counted() {
        pass(20);
        assertThat(share.freed(true, false, true, false))
                .as("not more than a moment")
                .isEqualTo(ticker.now());
        ticker.pass(Duration.ofNanos(1));
        assertThat(share.freed(true, false, true, false)).isGreaterThan(ticker.now());
    }

    @Test
    void share_begins_when_others_are_first_known_to_want_the_lock() {
        share.granted(false);
        pass(15);
        share.granted(true);
        pass(15);
        share.granted(true);
        pass(5);
        assertThat(share.freed(true, false, true, false)).as("20 ms since").isEqualTo(ticker.now());
        ticker.pass(Duration.ofNanos(1));
        assertThat(share.freed(true, false, true, false)).isGreaterThan(ticker.now());
    }

    @Test
    void share_begins_anew_after_a_pause() {
        share.granted(true);
        pass(19);
        share.granted(true);
        pass(20);
        share.granted(true);
        assertThat(share.freed(true, false, true, false))
                .as("the same share, 39 ms long")
                .isGreaterThan(ticker.now());

        share.comes();
        share.granted(true);
        pass(21);
        share.granted(true);
        assertThat(share.freed(true, false, true, false)).as("a new one").isEqualTo(ticker.now());
    }

    @Test
    void other_queues_of_this_process_are_others_too() {
        share.granted(false);
        pass(200);
        assertThat(share.goesOn(true)).as("they are new").isTrue();
        pass(100);
        assertThat(share.goesOn(true)).isTrue();
        ticker.pass(Duration.ofNanos(1));
        assertThat(share.goesOn(true)).isFalse();
    }

    @Test
    void times_are_moved_while_it_stands_back() {
        long now = ticker.now();
        assertThat(share.notBefore(now - 1)).as("it does not").isEqualTo(now - 1);
        assertThat(share.ifStandingBack(now + SECOND)).isEqualTo(now + SECOND);

        long end = share.freed(true, true, true, false);

        assertThat(end).isEqualTo(now + SECOND / 2);
        assertThat(share.notBefore(now)).isEqualTo(end);
        assertThat(share.notBefore(end + 1)).isEqualTo(end + 1);
        assertThat(share.ifStandingBack(now + SECOND)).isEqualTo(end);
        assertThat(share.ifStandingBack(now + 1)).isEqualTo(now + 1);
        pass(500);
        assertThat(share.notBefore(now)).isEqualTo(now);
        assertThat(share.ifStandingBack(end + SECOND)).isEqualTo(end + SECOND);
    }

    @Test
    void what_is_known_of_others_is_remembered_for_five_polls() {
        assertThat(share.isOver()).as("nothing is known").isTrue();
        share.granted(true);
        pass(250);
        assertThat(share.isOver()).isFalse();
        ticker.pass(Duration.ofNanos(1));
        assertThat(share.isOver()).isTrue();
    }

    @Test
    void reserve_of_fences_ends_with_its_fences_or_its_time() {
        FenceReserve<String> fences = new FenceReserve<>("kim", 7, ticker.now());
        assertThat(fences.holder).isEqualTo("kim");
        assertThat(fences.nextFence()).isEqualTo(8);
        for (int next = 9; next <= 7 + FenceReserve.RESERVED; next++) {
            assertThat(fences.goesOn(ticker.now())).isTrue();
            assertThat(fences.nextFence()).isEqualTo(next);
        }
        assertThat(fences.goesOn(ticker.now())).as("all are used").isFalse();

        FenceReserve<String> brief = new FenceReserve<>("lee", 1, ticker.now());
        assertThat(brief.goesOn(ticker.now() + FenceReserve.LONGEST.toNanos() - 1))
                .isTrue();
        assertThat(brief.goesOn(ticker.now() + FenceReserve.LONGEST.toNanos())).isFalse();
    }
}
