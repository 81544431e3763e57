// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.Comparator;
import java.util.Objects;

/**
 * The name of a lock: a type and an id, each any Unicode text of 1 to 255 characters (code points) that is not blank.
 *
 * <p>Names are compared exactly, on every database: {@code A} and {@code a}, {@code é} and {@code e}, {@code x} and {@code x }
 * (with a blank) are different locks.
 *
 * @param type what kind of thing is locked, for example {@code order}; a plain name has the type {@value #PLAIN}
 * @param id which one, for example {@code 42}
 */
public record LockName(String type, String id) implements Comparable<LockName> {

    /** The type of a lock that was named by one text only. */
    public static final String PLAIN = "lock";

    private static final int MAX = 255;
    private static final Comparator<LockName> ORDER =
            Comparator.comparing(LockName::type).thenComparing(LockName::id);

    /** Checks both parts and names the part that is wrong. */
    public LockName {
        requireName("type", type);
        requireName("id", id);
    }

    /** The lock with this plain name. */
    public static LockName of(String name) {
        return new LockName(PLAIN, name);
    }

    /** The lock of this type and id. */
    public static LockName of(String type, String id) {
        return new LockName(type, id);
    }

    @Override
    public int compareTo(LockName other) {
        return ORDER.compare(this, other);
    }

    /** The id alone for a plain name, otherwise {@code type/id}. */
    @Override
    public String toString() {
        return type.equals(PLAIN) ? id : type + "/" + id;
    }

    private static void requireName(String part, String text) {
        Objects.requireNonNull(text, () -> "The " + part + " of a lock is null");
        if (text.isBlank()) {
            throw new IllegalArgumentException("The " + part + " of a lock is blank");
        }
        int length = text.codePointCount(0, text.length());
        if (length > MAX) {
            throw new IllegalArgumentException("The " + part + " of a lock has " + length + " characters, at most "
                    + MAX + " are allowed: '" + text.substring(0, text.offsetByCodePoints(0, 40)) + "...'");
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                throw new IllegalArgumentException("The " + part + " of a lock has U+0000 at position " + i);
            }
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                throw new IllegalArgumentException("The " + part + " of a lock has a lone surrogate at position " + i);
            }
        }
    }
}
