// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WaitTest {

    @Test
    void none_has_no_time_and_forever_no_limit() {
        assertThat(Wait.none().limit()).contains(Duration.ZERO);
        assertThat(Wait.forever().limit()).isEmpty();
        assertThat(Wait.upTo(Duration.ofMillis(5)).limit()).contains(Duration.ofMillis(5));
    }

    @Test
    void waiting_up_to_zero_is_not_waiting() {
        assertThat(Wait.upTo(Duration.ZERO)).isEqualTo(Wait.none());
    }

    @Test
    void equal_waits_are_equal() {
        assertThat(Wait.upTo(Duration.ofSeconds(60)))
                .isEqualTo(Wait.upTo(Duration.ofMinutes(1)))
                .hasSameHashCodeAs(Wait.upTo(Duration.ofMinutes(1)))
                .isNotEqualTo(Wait.forever())
                .isNotEqualTo(Wait.none());
        assertThat(Wait.forever()).isEqualTo(Wait.forever()).isNotEqualTo(Wait.none());
    }

    @Test
    void it_says_what_it_is() {
        assertThat(Wait.none()).hasToString("no wait");
        assertThat(Wait.forever()).hasToString("forever");
        assertThat(Wait.upTo(Duration.ofSeconds(2))).hasToString("up to 2 s");
    }

    @Test
    void it_is_not_negative() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Wait.upTo(Duration.ofNanos(-1)))
                .withMessageContaining("negative");
    }
}
