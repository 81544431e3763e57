// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.junit.jupiter.api.Test;

class TablesTest {

    @Test
    void names_are_the_schema_and_the_prefix_and_what_they_hold() {
        assertThat(new Tables(null, "bitjang_").locks()).isEqualTo("bitjang_locks");
        assertThat(new Tables("app", "my_").audit()).isEqualTo("app.my_audit");
        assertThat(new Tables("app", "my_").version()).isEqualTo("app.my_schema_version");
    }

    @Test
    void what_is_no_identifier_is_refused_and_named() {
        for (String text : List.of("", "1a", "a b", "a;b", "a'b", "é", "a.b", "x".repeat(41), "a\n")) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> new Tables(null, text))
                    .withMessageContainingAll("table prefix", "'" + text + "'");
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> new Tables(text, "bitjang_"))
                    .withMessageContainingAll("schema", "'" + text + "'");
        }
    }
}
