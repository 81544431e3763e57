// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A moment on the monotonic clock, or never. Immutable. */
public final class Deadline {

    /** The deadline that never comes. */
    public static final Deadline NEVER = new Deadline(Ticker.SYSTEM, 0, true);

    /** Longest time that is measured; what is longer never comes. */
    private static final Duration HORIZON = Duration.ofDays(3660);

    private final Ticker ticker;
    private final long at;
    private final boolean never;

    private Deadline(Ticker ticker, long at, boolean never) {
        this.ticker = ticker;
        this.at = at;
        this.never = never;
    }

    static Deadline after(Ticker ticker, Duration duration) {
        return duration.compareTo(HORIZON) > 0 ? NEVER : new Deadline(ticker, ticker.now() + duration.toNanos(), false);
    }

    /** Returns the time that is left; zero when the moment has passed. */
    public long remainingNanos() {
        return never ? Long.MAX_VALUE : Math.max(0, at - ticker.now());
    }

    /** Tells whether the moment has passed. */
    public boolean passed() {
        return remainingNanos() == 0;
    }

    /** Tells whether the moment never comes. */
    public boolean isNever() {
        return never;
    }

    /** Waits for the end of the thread, if there is one, until this moment at most; an interrupt ends that and leaves the flag set. */
    public void join(@Nullable Thread thread) {
        try {
            if (thread != null) {
                thread.join(1 + TimeUnit.NANOSECONDS.toMillis(remainingNanos()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the latch until this moment at most, deaf to interrupts; an interrupt leaves the flag set. */
    public void await(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await(remainingNanos(), TimeUnit.NANOSECONDS);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
