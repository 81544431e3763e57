// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.internal.sql.Texts;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LimitsTest {

    @Test
    void durations_keep_every_microsecond() {
        assertThat(Limits.micros(Duration.ofMillis(1500))).isEqualTo(1_500_000);
        assertThat(Limits.micros(Duration.ofSeconds(1, 999_999))).isEqualTo(1_000_999);
        assertThat(Limits.micros(Duration.ofDays(3652))).isEqualTo(3652L * 24 * 3600 * 1_000_000);
    }

    @Test
    void the_shortest_duration_is_a_microsecond() {
        assertThat(Limits.micros(Duration.ofNanos(1))).isEqualTo(1);
    }

    @Test
    void a_duration_is_longer_than_zero_and_at_most_ten_years() {
        assertThat(Limits.duration("time", Duration.ofDays(3652))).isEqualTo(Duration.ofDays(3652));
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(3654))) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Limits.duration("time", wrong))
                    .withMessageContainingAll("time", Texts.of(wrong));
        }
    }
}
