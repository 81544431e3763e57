// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Locked;
import java.time.Duration;

/**
 * This process's fair share of a lock that others want too: how long it may hand the lock on among its own threads, and how long
 * it stands back afterwards. The share outlives a moment in which nobody here happens to wait. {@code lock} guards everything;
 * nothing is called under it. Thread-safe.
 */
final class FairShare extends Locked {

    /** The most hand-overs of a share, unless they are so fast that hardly any time has passed. */
    private static final int LONGEST = 50;

    /** The longest share that is not counted, because others would hardly notice it: as long as leases pass on. */
    private static final long SHORT_NANOS = FenceReserve.LONGEST.toNanos();

    /** The longest share: two processes that take turns wait a tenth of a second for each other, which a person does not see. */
    private static final long LONGEST_NANOS = Duration.ofMillis(100).toNanos();

    /** How long it is remembered that others want the lock: five polls of theirs; whoever has not marked it since has left. */
    private static final long MEMORY_NANOS = Duration.ofMillis(250).toNanos();

    /** How long this process stands back for those who poll: longer than their poll of 50 ms and its random quarter. */
    private static final long FOR_POLLS = Duration.ofMillis(75).toNanos();

    /** How long it stands back for those who are notified, and need a round trip or two. */
    private static final long FOR_NOTIFIED = Duration.ofMillis(15).toNanos();

    /** How long it stands back where processes stand in line: the line calls it earlier, this is the safety net. */
    private static final long FOR_LINE = Duration.ofMillis(500).toNanos();

    private int handOvers;
    private final Ticker ticker;
    private long began;
    private long lastUsed;
    private long standBackUntil;
    private boolean wanted;

    FairShare(Ticker ticker) {
        this.ticker = ticker;
        this.began = ticker.now();
        this.lastUsed = began;
        this.standBackUntil = began;
    }

    /** Notes that the database has granted the lock to this process. */
    void granted(boolean wantedByOthers) {
        locked(() -> {
            long now = ticker.now();
            if (wantedByOthers && !wanted || now - lastUsed > SHORT_NANOS) {
                begin(now, wantedByOthers);
            }
            return lastUsed = now;
        });
    }

    /** Tells whether the lock may go to the next waiter of this process. */
    boolean goesOn(boolean otherQueues) {
        return locked(() -> {
            lastUsed = ticker.now();
            if (otherQueues && !wanted) {
                begin(lastUsed, true);
            }
            long took = lastUsed - began;
            boolean isLong = handOvers >= LONGEST && took > SHORT_NANOS || took > LONGEST_NANOS;
            return !wanted || !isLong;
        });
    }

    /** Notes that the lock went to the next waiter here. Others that want it count until the share ends: they mark it seldom. */
    void handedOver(boolean wantedByOthers) {
        locked(() -> {
            if (!wanted && wantedByOthers) {
                // only from now on is there anyone to be fair to
                begin(ticker.now(), true);
            }
            return handOvers++;
        });
    }

    /**
     * Notes that the lock was really freed: after more than a moment of it, the others go first. Returns when this process may
     * try again.
     *
     * @param inLine whether processes take the lock in the order in which they asked: then the others go first always
     * @param waits whether anyone here waits for it, and so goes to the end of that line
     * @param notified whether others hear of it at once
     */
    long freed(boolean othersWait, boolean inLine, boolean waits, boolean notified) {
        return locked(() -> {
            long now = ticker.now();
            lastUsed = now;
            wanted |= othersWait;
            boolean yields = inLine || wanted && now - began > SHORT_NANOS;
            if (yields) {
                begin(now, false);
            }
            long standBack = inLine && waits ? FOR_LINE : notified ? FOR_NOTIFIED : FOR_POLLS;
            return standBackUntil = now + (yields ? standBack : 0);
        });
    }

    /** Ends the standing back, because this process's turn has come: it may try at once. */
    void comes() {
        locked(() -> standBackUntil = ticker.now());
    }

    boolean standsBack() {
        return locked(() -> standBackUntil - ticker.now() > 0);
    }

    /** Returns the given time, or the end of the standing back if that is later. */
    long notBefore(long at) {
        return locked(() -> standsBack() && standBackUntil - at > 0 ? standBackUntil : at);
    }

    /** Returns the given time, or the end of the standing back if that is sooner. */
    long ifStandingBack(long at) {
        return locked(() -> standsBack() && standBackUntil - at < 0 ? standBackUntil : at);
    }

    /** Tells whether this share may be forgotten without losing anything. */
    boolean isOver() {
        return locked(() -> !standsBack() && (!wanted || ticker.now() - lastUsed > MEMORY_NANOS));
    }

    private void begin(long now, boolean contended) {
        handOvers = 0;
        began = now;
        wanted = contended;
    }
}
