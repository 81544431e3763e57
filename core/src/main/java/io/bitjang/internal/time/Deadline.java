// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.time.Duration;
import java.util.Optional;

/** A moment on the monotonic clock, or never. Immutable. */
public final class Deadline {

    /** Longest time that is measured; what is longer never comes. */
    private static final Duration HORIZON = Duration.ofDays(3660);

    private static final Deadline NEVER = new Deadline(0, true);

    private final long at;
    private final boolean never;

    private Deadline(long at, boolean never) {
        this.at = at;
        this.never = never;
    }

    /** This long from now. */
    public static Deadline in(Duration duration) {
        return after(Ticks.now(), duration);
    }

    /** This long after a moment of {@link Ticks#now()}. */
    public static Deadline after(long ticks, Duration duration) {
        return duration.compareTo(HORIZON) > 0 ? NEVER : new Deadline(ticks + duration.toNanos(), false);
    }

    /** In the given time, or never if there is none. */
    public static Deadline of(Optional<Duration> limit) {
        return limit.map(Deadline::in).orElse(NEVER);
    }

    /** What is left; zero when it has passed. */
    public long remainingNanos() {
        return never ? Long.MAX_VALUE : Math.max(0, at - Ticks.now());
    }

    /** Whether it has passed. */
    public boolean passed() {
        return remainingNanos() == 0;
    }

    /** Whether there is no such moment. */
    public boolean isNever() {
        return never;
    }
}
