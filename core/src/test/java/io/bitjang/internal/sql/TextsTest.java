// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class TextsTest {

    @Test
    void duration_is_written_as_people_write_it() {
        assertThat(Texts.of(Duration.ofMillis(500))).isEqualTo("500 ms");
        assertThat(Texts.of(Duration.ofSeconds(30))).isEqualTo("30 s");
        assertThat(Texts.of(Duration.ofMillis(90_250))).isEqualTo("1 min 30 s 250 ms");
        assertThat(Texts.of(Duration.ofHours(49))).isEqualTo("2 d 1 h");
        assertThat(Texts.of(Duration.ofMillis(-1500))).isEqualTo("-1 s 500 ms");
        assertThat(Texts.of(Duration.ofNanos(-7))).isEqualTo("-7 ns");
        assertThat(Texts.of(Duration.ZERO)).isEqualTo("0 s");
    }

    @Test
    void longest_and_least_have_a_text() {
        assertThat(Texts.of(Duration.ofSeconds(Long.MAX_VALUE))).startsWith("106751991167300 d 15 h");
        assertThat(Texts.of(Duration.ofSeconds(Long.MIN_VALUE))).startsWith("-106751991167300 d 15 h");
    }
}
