// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.time.Ticks;
import java.time.Duration;

/**
 * A grant that may pass from hand to hand in this process without a statement, for a moment: the fences that its holders get were
 * set aside in the table with the grant, so that nobody else ever gets one of them. Used by one holder after the other; {@code
 * holder} may be read by anyone.
 */
final class Run {

    /** How many fences are set aside. */
    static final int RESERVED = 500;

    /** How long it goes on. Whoever has the lock then keeps it, and the table is told who that is. */
    static final Duration LONGEST = Duration.ofMillis(20);

    private final long last;
    private final long until = Ticks.now() + LONGEST.toNanos();
    private long fence;
    volatile LeaseHandle holder;

    /** Begins with a grant whose statement has set the fences aside. */
    Run(LeaseHandle first) {
        this.holder = first;
        this.fence = first.fence();
        this.last = fence + RESERVED;
    }

    /** Whether the lock may pass on once more. */
    boolean goesOn() {
        return fence < last && Ticks.now() - until < 0;
    }

    long nextFence() {
        return ++fence;
    }
}
