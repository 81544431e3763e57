// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import io.bitjang.LockException;
import io.bitjang.LockName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The clocks of a process, sleeping by them, and chance. It is handed in: a test can hold time still. No other class of the core reads
 * a clock, sleeps or throws dice. Thread-safe.
 */
public interface Ticker {

    /** The clocks of this machine. */
    Ticker SYSTEM = new SystemTicker();

    /** Returns the time of the monotonic clock, in nanoseconds of no particular origin. */
    long now();

    /** Returns the time of the wall clock, in milliseconds; that clock may step, and decides nothing. */
    long wallMillis();

    /** Sleeps this long, or until the thread is unparked or interrupted. */
    default void park(long nanos) {
        LockSupport.parkNanos(nanos);
    }

    /** Unparks a thread, if there is one. */
    default void unpark(@Nullable Thread thread) {
        LockSupport.unpark(thread);
    }

    /** Sleeps this long; false if the thread is interrupted: its interrupt flag stays set. */
    boolean sleep(long nanos);

    /** Returns a number from zero to below this one, by chance. */
    long random(long below);

    /** Reads both clocks. */
    default Clocks clocks() {
        return new Clocks(now(), wallMillis());
    }

    /** Returns the deadline this long from now. */
    default Deadline in(Duration duration) {
        return Deadline.after(this, duration);
    }

    /** Returns the deadline in the given time, or never if there is none. */
    default Deadline in(Optional<Duration> limit) {
        return limit.map(this::in).orElse(Deadline.NEVER);
    }

    /**
     * Sleeps for a random part of the given time, at least a quarter of it, so that those who collided don't meet again.
     *
     * @throws LockException if the thread is interrupted; its interrupt flag stays set
     */
    default void pause(@Nullable LockName name, long millis) {
        if (!paused(millis)) {
            throw interrupted(name);
        }
    }

    /** Makes the exception for an interrupted thread. */
    static LockException interrupted(@Nullable LockName name) {
        return new LockException(
                name,
                "Interrupted while working on " + (name == null ? "the tables" : name),
                new InterruptedException());
    }

    /** Sleeps as {@link #pause} does; false if the thread is interrupted: its interrupt flag stays set. */
    default boolean paused(long millis) {
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        return sleep(nanos / 4 + random(nanos - nanos / 4 + 1));
    }
}
