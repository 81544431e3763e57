// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VersionTokenTest {

    private static final List<Object> VERSIONS = List.of(
            0L,
            7,
            (short) 3,
            Long.MAX_VALUE,
            Long.MIN_VALUE,
            Instant.parse("2026-11-16T12:00:00.123456789Z"),
            Timestamp.from(Instant.parse("1969-12-31T23:59:59.5Z")),
            LocalDateTime.parse("2026-11-16T12:00:00.000000001"));

    @Test
    void every_kind_of_version_comes_back() {
        for (Object version : VERSIONS) {
            VersionToken token = VersionToken.of(version);

            assertThat(VersionToken.parse(token.value())).isEqualTo(token).hasSameHashCodeAs(token);
            assertThat(VersionToken.parseEtag(token.etag())).isEqualTo(token);
            assertThat(token.value()).matches("[A-Za-z0-9_-]+");
            assertThat(token.etag()).isEqualTo('"' + token.value() + '"');
        }
    }

    @Test
    void different_versions_differ() {
        assertThat(VERSIONS.stream().map(VersionToken::of).distinct()).hasSize(VERSIONS.size());
        assertThat(VersionToken.of(7)).isEqualTo(VersionToken.of(7L)).hasToString("7");
    }

    @Test
    void a_token_that_was_changed_anywhere_is_refused() {
        String value = VersionToken.of(7L).value();
        for (int i = 0; i < value.length(); i++) {
            for (char c : "AZaz09-_".toCharArray()) {
                if (value.charAt(i) != c) {
                    String changed = value.substring(0, i) + c + value.substring(i + 1);
                    assertThatThrownBy(() -> VersionToken.parse(changed))
                            .as(changed)
                            .isInstanceOf(IllegalArgumentException.class)
                            .hasMessageContaining("changed on its way");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "7", "null", "AAAA", "한글", "<script>", "====", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            })
    void what_is_no_token_is_refused(String text) {
        assertThatThrownBy(() -> VersionToken.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Not the token of a version");
    }

    @Test
    void an_etag_is_strong_and_quoted() {
        String value = VersionToken.of(7L).value();

        assertThatThrownBy(() -> VersionToken.parseEtag("W/\"" + value + '"')).hasMessageContaining("weak");
        assertThatThrownBy(() -> VersionToken.parseEtag(value)).hasMessageContaining("double quotes");
        assertThatThrownBy(() -> VersionToken.parseEtag("\"")).hasMessageContaining("double quotes");
        assertThatThrownBy(() -> VersionToken.parseEtag("*")).hasMessageContaining("double quotes");
    }

    @Test
    void only_versions_of_jpa_can_be_tokens() {
        assertThatThrownBy(() -> VersionToken.of("7")).hasMessageContaining("java.lang.String");
        assertThatThrownBy(() -> VersionToken.of(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> VersionToken.parse(null)).isInstanceOf(NullPointerException.class);
    }
}
