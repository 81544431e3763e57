// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** What callers may ask for. */
public final class Limits {

    private static final Duration MAX = Duration.ofDays(3652);
    private static final int MAX_OWNER = 255;
    private static final int MAX_NOTE = 1000;

    private Limits() {}

    /** A duration of more than zero and at most 10 years. */
    public static Duration duration(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException("The " + what + " must be longer than zero, not " + duration);
        }
        if (duration.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("The " + what + " must not be longer than 10 years: " + duration);
        }
        return duration;
    }

    /** The name of an owner. */
    public static String owner(String owner) {
        return text("owner", owner, MAX_OWNER);
    }

    /** A note. */
    public static String note(String note) {
        return text("note", note, MAX_NOTE);
    }

    /** A text of limited length that every database can store. */
    static String text(String what, String text, int max) {
        Objects.requireNonNull(text, what);
        if (text.isBlank()) {
            throw new IllegalArgumentException("The " + what + " is blank");
        }
        int length = text.codePointCount(0, text.length());
        if (length > max) {
            throw new IllegalArgumentException(
                    "The " + what + " has " + length + " characters, at most " + max + " are allowed");
        }
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("The " + what + " has U+0000 in it");
        }
        return text;
    }

    /** Whole microseconds, at least one. */
    static long micros(Duration duration) {
        return Math.max(1, TimeUnit.SECONDS.toMicros(duration.getSeconds()) + duration.getNano() / 1000);
    }
}
