// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.time.Duration;
import java.util.Objects;

/** What may be stored as a text, on every database alike, and what people read. */
public final class Texts {

    private Texts() {}

    /** Writes a duration as people do: {@code 500 ms}, {@code 1 min 30 s}. */
    public static String of(Duration duration) {
        Duration length = Duration.ofSeconds(Math.max(duration.getSeconds(), -Long.MAX_VALUE), duration.getNano())
                .abs();
        String text = part(length.toDays(), " d ")
                + part(length.toHoursPart(), " h ")
                + part(length.toMinutesPart(), " min ")
                + part(length.toSecondsPart(), " s ")
                + part(length.toMillisPart(), " ms ");
        return (duration.isNegative() ? "-" : "")
                + (text.isEmpty() ? length.isZero() ? "0 s" : length.getNano() + " ns" : text.strip());
    }

    private static String part(long number, String unit) {
        return number == 0 ? "" : number + unit;
    }

    /** Compares texts by code points, as the databases sort; {@link String#compareTo} goes by UTF-16 units. */
    public static int compare(String a, String b) {
        for (int i = 0; i < Math.min(a.length(), b.length()); i++) {
            if (a.charAt(i) != b.charAt(i)) {
                return Integer.compare(rank(a.charAt(i)), rank(b.charAt(i)));
            }
        }
        return Integer.compare(a.length(), b.length());
    }

    /** Ranks a character: surrogates stand for what is behind all other characters. */
    private static int rank(char c) {
        return Character.isSurrogate(c) ? c + 0x10000 : c;
    }

    /**
     * Requires a text that is not null or blank, nor longer than so many code points, nor has U+0000 or a lone surrogate; says
     * what is wrong and where.
     */
    public static String require(String what, String text, int max) {
        Objects.requireNonNull(text, () -> "The " + what + " is null");
        if (text.isBlank()) {
            throw new IllegalArgumentException("The " + what + " is blank");
        }
        int length = text.codePointCount(0, text.length());
        if (length > max) {
            throw new IllegalArgumentException("The " + what + " has " + length + " characters, at most " + max
                    + " are allowed: '" + text.substring(0, text.offsetByCodePoints(0, 40)) + "...'");
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                throw new IllegalArgumentException("The " + what + " has U+0000 at position " + i);
            }
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                throw new IllegalArgumentException("The " + what + " has a lone surrogate at position " + i);
            }
        }
        return text;
    }
}
