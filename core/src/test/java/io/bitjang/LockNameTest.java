// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class LockNameTest {

    @Test
    void a_plain_name_is_the_id_of_the_type_lock() {
        assertThat(LockName.of("job")).isEqualTo(LockName.of("lock", "job")).hasToString("job");
        assertThat(LockName.of("order", "42")).hasToString("order/42");
    }

    @Test
    void names_differ_in_every_character() {
        assertThat(List.of(
                        LockName.of("A"),
                        LockName.of("a"),
                        LockName.of("é"),
                        LockName.of("e\u0301"),
                        LockName.of("a ")))
                .doesNotHaveDuplicates();
    }

    @Test
    void their_order_is_that_of_the_code_points_first_by_type() {
        LockName first = LockName.of("a", "z");
        LockName second = LockName.of("b", "\uFFFD");
        LockName third = LockName.of("b", "😀");

        assertThat(new TreeSet<>(List.of(third, second, first))).containsExactly(first, second, third);
        assertThat(first).isEqualByComparingTo(LockName.of("a", "z"));
    }

    @Test
    void a_part_has_at_most_255_characters_however_many_units_they_take() {
        assertThatNoException().isThrownBy(() -> LockName.of("😀".repeat(255), "é".repeat(255)));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> LockName.of("t", "😀".repeat(256)))
                .withMessageContainingAll("id", "256 characters", "255");
    }

    @Test
    void what_a_database_cannot_keep_is_refused_with_its_place() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> LockName.of("a\u0000", "b"))
                .withMessageContainingAll("type", "U+0000", "position 1");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> LockName.of("a", "😀\uD83D"))
                .withMessageContainingAll("id", "lone surrogate", "position 2");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> LockName.of("a", "\uDE00\uD83D"))
                .withMessageContainingAll("id", "lone surrogate", "position 0");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> LockName.of("\u3000", "b"))
                .withMessageContainingAll("type", "blank");
    }
}
