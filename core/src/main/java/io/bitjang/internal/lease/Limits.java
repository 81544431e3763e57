// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Texts;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** What callers may ask for. */
public final class Limits {

    private static final Duration MAX = Duration.ofDays(3652);
    private static final int MAX_OWNER = 255;
    private static final int MAX_NOTE = 1000;
    private static final int MAX_REASON = 700;

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
        return Texts.require("owner", owner, MAX_OWNER);
    }

    /** A note. */
    public static String note(String note) {
        return Texts.require("note", note, MAX_NOTE);
    }

    /** A reason; it goes into the table together with the name of who gave it. */
    static String reason(String reason) {
        return Texts.require("reason", reason, MAX_REASON);
    }

    /** Whole microseconds, at least one. */
    static long micros(Duration duration) {
        return Math.max(1, TimeUnit.SECONDS.toMicros(duration.getSeconds()) + duration.getNano() / 1000);
    }
}
