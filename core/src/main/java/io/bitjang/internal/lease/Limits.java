// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Texts;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Checks what callers may ask for. */
public final class Limits {

    private static final Duration MAX = Duration.ofDays(3652);
    private static final int MAX_OWNER = 255;
    private static final int MAX_NOTE = 1000;
    private static final int MAX_REASON = 700;

    private Limits() {}

    /** Requires a duration of more than zero and at most 10 years. */
    public static Duration duration(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException("The " + what + " must be longer than zero, not " + Texts.of(duration));
        }
        if (duration.compareTo(MAX) > 0) {
            throw new IllegalArgumentException(
                    "The " + what + " must not be longer than 10 years: " + Texts.of(duration));
        }
        return duration;
    }

    /** Requires a name of an owner that can be stored. */
    public static String owner(String owner) {
        return Texts.require("owner", owner, MAX_OWNER);
    }

    /** Requires a note that can be stored. */
    public static String note(String note) {
        return Texts.require("note", note, MAX_NOTE);
    }

    /** Requires a reason that can be stored; it goes into the table together with the name of whoever gave it. */
    static String reason(String reason) {
        return Texts.require("reason", reason, MAX_REASON);
    }

    /** Converts a duration to whole microseconds, at least one. */
    static long micros(Duration duration) {
        return Math.max(1, TimeUnit.SECONDS.toMicros(duration.getSeconds()) + duration.getNano() / 1000);
    }
}
