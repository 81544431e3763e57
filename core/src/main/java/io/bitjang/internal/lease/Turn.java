// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Locked;
import java.time.Duration;

/**
 * This process's turn with a lock that others want too: how long it may hand the lock on among its own threads, and how long it
 * stands back afterwards. It outlives a moment in which nobody here happens to wait. {@code lock} guards everything; nothing is
 * called under it. Thread-safe.
 */
final class Turn extends Locked {

    /** Many hand-overs are too many, unless they are so fast that hardly any time has passed. */
    private static final int LONGEST = 50;

    private static final long SHORT_NANOS = Run.LONGEST.toNanos();
    private static final long LONGEST_NANOS = Duration.ofMillis(100).toNanos();

    /** What is known about the others is worth nothing after this. */
    private static final long MEMORY_NANOS = Duration.ofMillis(250).toNanos();

    private int handOvers;
    private long began = Ticks.now();
    private long lastUsed = began;
    private long standBackUntil = began;
    private boolean wanted;

    /** The database has granted the lock. */
    void granted(boolean wantedByOthers) {
        locked(() -> {
            long now = Ticks.now();
            if (wantedByOthers && !wanted || now - lastUsed > SHORT_NANOS) {
                begin(now, wantedByOthers);
            }
            return lastUsed = now;
        });
    }

    /** Whether the lock may go to the next one here. */
    boolean goesOn(boolean otherQueues) {
        return locked(() -> {
            lastUsed = Ticks.now();
            if (otherQueues && !wanted) {
                begin(lastUsed, true);
            }
            long took = lastUsed - began;
            boolean isLong = handOvers >= LONGEST && took > SHORT_NANOS || took > LONGEST_NANOS;
            return !wanted || !isLong;
        });
    }

    /** It went to the next one here. Once waited for, it is so until the turn ends: the others mark it seldom. */
    void handedOver(boolean wantedByOthers) {
        locked(() -> {
            if (!wanted && wantedByOthers) {
                // only from now on is there anyone to be fair to
                begin(Ticks.now(), true);
            }
            return handOvers++;
        });
    }

    /** The lock was really freed: after more than a moment of it, the others go first. Answers when this process may try again. */
    long freed(boolean othersWait, boolean always, long standBackNanos) {
        return locked(() -> {
            long now = Ticks.now();
            lastUsed = now;
            wanted |= othersWait;
            boolean yields = always || wanted && now - began > SHORT_NANOS;
            if (yields) {
                begin(now, false);
            }
            return standBackUntil = now + (yields ? standBackNanos : 0);
        });
    }

    /** Starts this process's turn: it may try at once. */
    void comes() {
        locked(() -> standBackUntil = Ticks.now());
    }

    boolean standsBack() {
        return locked(() -> standBackUntil - Ticks.now() > 0);
    }

    /** The time, or the end of the standing back if that is later. */
    long notBefore(long at) {
        return locked(() -> standsBack() && standBackUntil - at > 0 ? standBackUntil : at);
    }

    /** The time, or the end of the standing back if that is sooner. */
    long ifStandingBack(long at) {
        return locked(() -> standsBack() && standBackUntil - at < 0 ? standBackUntil : at);
    }

    /** Whether nothing is lost if it is forgotten. */
    boolean isOver() {
        return locked(() -> !standsBack() && (!wanted || Ticks.now() - lastUsed > MEMORY_NANOS));
    }

    private void begin(long now, boolean contended) {
        handOvers = 0;
        began = now;
        wanted = contended;
    }
}
