// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeadlineTest {

    private final HandTicker ticker = new HandTicker();

    @Test
    void it_passes_when_its_time_has_come_and_not_before() {
        Deadline deadline = ticker.in(Duration.ofSeconds(1));
        ticker.pass(Duration.ofNanos(999_999_999));
        assertThat(deadline.passed()).isFalse();
        ticker.pass(Duration.ofNanos(1));
        assertThat(deadline.passed()).isTrue();
        assertThat(ticker.in(Duration.ZERO).passed()).isTrue();
    }

    @Test
    void what_is_left_shrinks_to_zero_and_stays_there() {
        Deadline deadline = ticker.in(Duration.ofHours(1));
        ticker.pass(Duration.ofMinutes(59));
        assertThat(deadline.remainingNanos()).isEqualTo(Duration.ofMinutes(1).toNanos());
        ticker.pass(Duration.ofMinutes(5));
        assertThat(deadline.remainingNanos()).isZero();
        assertThat(ticker.in(Duration.ofSeconds(-5)).remainingNanos()).isZero();
    }

    @Test
    void without_a_limit_it_never_comes() {
        Deadline never = ticker.in(Optional.empty());

        assertThat(never.isNever()).isTrue();
        assertThat(never.passed()).isFalse();
        assertThat(never.remainingNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(ticker.in(Optional.of(Duration.ofSeconds(1))).isNever()).isFalse();
    }

    @Test
    void what_is_too_long_to_count_never_comes_and_does_not_overflow() {
        assertThat(ticker.in(Duration.ofSeconds(Long.MAX_VALUE)).passed()).isFalse();
        assertThat(ticker.in(Duration.ofSeconds(Long.MAX_VALUE)).isNever()).isTrue();
        assertThat(ticker.in(Duration.ofDays(3652)).isNever()).isFalse();
        assertThat(ticker.in(Duration.ofDays(3652)).passed()).isFalse();
    }

    @Test
    void pause_is_a_random_part_of_its_time_and_at_least_a_quarter() {
        long before = ticker.now();
        ticker.pause(null, 100);
        assertThat(ticker.now() - before).isBetween(25_000_000L, 100_000_000L);

        long began = Ticker.SYSTEM.now();
        assertThat(Ticker.SYSTEM.paused(4)).isTrue();
        assertThat(Ticker.SYSTEM.now() - began).isGreaterThanOrEqualTo(1_000_000);
    }

    @Test
    void suspended_host_shows_in_the_wall_clock_alone() {
        Clocks before = new Clocks(5_000_000_000L, 1_000);

        assertThat(before.wallRanAhead(new Clocks(6_000_000_000L, 2_000))).isZero();
        assertThat(before.wallRanAhead(new Clocks(6_000_000_000L, 5_000)))
                .isEqualTo(Duration.ofSeconds(3).toNanos());
    }
}
