// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import io.bitjang.LockName;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What a key is called in the database: itself, so that operators can read it. What can't be the name of a lock (too long, blank) is
 * called by its hash, because other registries take such keys, too. Immutable.
 */
final class Names {

    private static final int MAX = 255;

    private final String type;

    Names(String type) {
        // refuses a type that can't be one before the first lock is wanted
        this.type = LockName.of(type, "any").type();
    }

    LockName of(String key) {
        return LockName.of(type, canBeName(key) ? key : "sha-256:" + hash(key));
    }

    private static boolean canBeName(String key) {
        return !key.isBlank()
                && key.codePointCount(0, key.length()) <= MAX
                && key.codePoints()
                        .noneMatch(c -> c == 0 || c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private static String hash(String key) {
        // not encoded as text, which would make all lone surrogates the same
        ByteBuffer bytes = ByteBuffer.allocate(key.length() * 2);
        bytes.asCharBuffer().put(key);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
