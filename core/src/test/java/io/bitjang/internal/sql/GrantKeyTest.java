// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bitjang.LockId;
import io.bitjang.LockName;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GrantKeyTest {

    private static final GrantKey KEY = new GrantKey(LockName.of("order", "42"), 1_700_000_000_000_001L, secret());

    @Test
    void a_lock_id_carries_name_fence_and_secret() {
        for (GrantKey key : List.of(
                KEY,
                new GrantKey(LockName.of("t", "i"), 0, secret()),
                new GrantKey(LockName.of("t", "i"), Long.MAX_VALUE, secret()),
                new GrantKey(LockName.of("\uFFFD", "\uFFFD😀"), 7, secret()),
                new GrantKey(LockName.of("😀".repeat(255), "é".repeat(255)), 7, secret()),
                new GrantKey(LockName.of("a\u001fb\n", " \\\"' "), 7, secret()))) {
            LockId id = key.toLockId();

            assertThat(GrantKey.of(id)).isEqualTo(key);
            assertThat(GrantKey.decode(id.value())).isEqualTo(key);
            assertThat(new LockId(id.value())).isEqualTo(id);
            assertThat(id.name()).isEqualTo(key.name());
            assertThat(id.fence()).isEqualTo(key.fence());
        }
    }

    @Test
    void neither_key_nor_lock_id_shows_the_secret() {
        assertThat(KEY.toString()).contains("order/42").doesNotContain(KEY.secret());
        assertThat(KEY.toLockId().toString())
                .contains("order/42", "1700000000000001")
                .doesNotContain(KEY.secret(), KEY.toLockId().value());
    }

    @Test
    void keys_of_different_grants_differ() {
        GrantKey sameButForTheSecret = new GrantKey(KEY.name(), KEY.fence(), secret());

        assertThat(sameButForTheSecret.toLockId()).isNotEqualTo(KEY.toLockId());
    }

    @Test
    void secrets_are_128_bits_and_do_not_repeat() {
        Set<String> secrets = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            String secret = GrantKey.newSecret();
            assertThat(Base64.getUrlDecoder().decode(secret)).hasSize(16);
            secrets.add(secret);
        }
        assertThat(secrets).hasSize(1000);
    }

    @Test
    void a_text_that_was_cut_off_or_prolonged_is_no_lock_id() {
        String text = KEY.toLockId().value();

        for (int length = 0; length < text.length(); length++) {
            assertNoLockId(text.substring(0, length));
            assertNoLockId(text.substring(text.length() - length));
        }
        for (String more : List.of("A", "AA", "AAA", "AAAA", "=", " ", "\n")) {
            assertNoLockId(text + more);
            assertNoLockId(more + text);
        }
    }

    @Test
    void a_text_with_a_wrong_character_is_no_lock_id() {
        String text = KEY.toLockId().value();
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/ é";

        for (int i = 0; i < text.length(); i++) {
            for (int c = 0; c < alphabet.length(); c++) {
                if (alphabet.charAt(c) != text.charAt(i)) {
                    assertNoLockId(text.substring(0, i) + alphabet.charAt(c) + text.substring(i + 1));
                }
            }
        }
    }

    private static void assertNoLockId(String text) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .as(text)
                .isThrownBy(() -> GrantKey.decode(text))
                .withNoCause()
                .withMessage("This text is no lock id (" + text.length() + " characters)");
    }

    private static String secret() {
        return GrantKey.newSecret();
    }
}
