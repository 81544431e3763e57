// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import io.bitjang.internal.sql.Texts;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How long to wait for a lock: not at all, up to a duration, or for ever. Immutable. */
public final class Wait {

    private static final Wait NONE = new Wait(Duration.ZERO);
    private static final Wait FOREVER = new Wait(null);

    private final @Nullable Duration limit;

    private Wait(@Nullable Duration limit) {
        this.limit = limit;
    }

    /** One attempt, no waiting. */
    public static Wait none() {
        return NONE;
    }

    /**
     * Waits at most this long, whatever the database does.
     *
     * @throws IllegalArgumentException if the duration is negative
     */
    public static Wait upTo(Duration duration) {
        Objects.requireNonNull(duration, "duration");
        if (duration.isNegative()) {
            throw new IllegalArgumentException("A wait can't be negative: " + Texts.of(duration));
        }
        return duration.isZero() ? NONE : new Wait(duration);
    }

    /** Waits until the lock is free, or the thread is interrupted. */
    public static Wait forever() {
        return FOREVER;
    }

    /** The limit; empty for {@link #forever()}, zero for {@link #none()}. */
    public Optional<Duration> limit() {
        return Optional.ofNullable(limit);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Wait wait && Objects.equals(limit, wait.limit);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(limit);
    }

    @Override
    public String toString() {
        return limit == null ? "forever" : limit.isZero() ? "no wait" : "up to " + Texts.of(limit);
    }
}
