// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeadlineTest {

    @Test
    void it_passes_when_its_time_has_come_and_not_before() {
        assertThat(Deadline.after(Ticks.now() - 1_000_000_000L, Duration.ofMillis(999))
                        .passed())
                .isTrue();
        assertThat(Deadline.after(Ticks.now() - 1_000_000_000L, Duration.ofHours(1))
                        .passed())
                .isFalse();
        assertThat(Deadline.in(Duration.ZERO).passed()).isTrue();
    }

    @Test
    void what_is_left_shrinks_to_zero_and_stays_there() {
        assertThat(Deadline.in(Duration.ofHours(1)).remainingNanos())
                .isPositive()
                .isLessThanOrEqualTo(Duration.ofHours(1).toNanos());
        assertThat(Deadline.after(Ticks.now(), Duration.ofSeconds(-5)).remainingNanos())
                .isZero();
    }

    @Test
    void it_is_counted_from_the_given_moment() {
        Deadline later = Deadline.after(Ticks.now() + Duration.ofHours(1).toNanos(), Duration.ofHours(1));

        assertThat(later.remainingNanos()).isGreaterThan(Duration.ofMinutes(119).toNanos());
    }

    @Test
    void without_a_limit_it_never_comes() {
        Deadline never = Deadline.of(Optional.empty());

        assertThat(never.isNever()).isTrue();
        assertThat(never.passed()).isFalse();
        assertThat(never.remainingNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(Deadline.of(Optional.of(Duration.ofSeconds(1))).isNever()).isFalse();
    }

    @Test
    void what_is_too_long_to_count_never_comes_and_does_not_overflow() {
        assertThat(Deadline.in(Duration.ofSeconds(Long.MAX_VALUE)).passed()).isFalse();
        assertThat(Deadline.in(Duration.ofSeconds(Long.MAX_VALUE)).isNever()).isTrue();
        assertThat(Deadline.in(Duration.ofDays(3652)).isNever()).isFalse();
        assertThat(Deadline.in(Duration.ofDays(3652)).passed()).isFalse();
    }
}
