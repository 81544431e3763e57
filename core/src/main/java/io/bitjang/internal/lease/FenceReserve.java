// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.time.Duration;

/**
 * The fences that were set aside in the table with a grant, so that nobody else ever gets one of them: with them the lock may
 * pass from hand to hand in this process without a statement, for a moment. Used by one holder after the other; {@code holder}
 * may be read by anyone.
 *
 * @param <H> who holds the lock
 */
final class FenceReserve<H> {

    /** How many fences are set aside: more than can be used in the time. */
    static final int RESERVED = 500;

    /** How long the reserve is used. Whoever has the lock then keeps it, and the table is told who that is. */
    static final Duration LONGEST = Duration.ofMillis(20);

    private final long last;
    private final long until;
    private long fence;
    volatile H holder;

    /** Begins the reserve with a grant whose statement has set the fences aside. */
    FenceReserve(H first, long fence, long now) {
        this.until = now + LONGEST.toNanos();
        this.holder = first;
        this.fence = fence;
        this.last = fence + RESERVED;
    }

    /** Tells whether the lock may pass on once more. */
    boolean goesOn(long now) {
        return fence < last && now - until < 0;
    }

    long nextFence() {
        return ++fence;
    }
}
