// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease.State;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.work.Locked;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one grant: its state, until when it lasts, and whether its holder knows.
 *
 * <p>The state only moves towards its two ends, LOST and RELEASED. The deadline is on the monotonic clock, counted from before the
 * request was sent that confirmed it last. It reads no clock and calls nobody: {@code lock} guards everything. Thread-safe.
 */
final class LeaseState extends Locked {

    /** The least lead of the wall clock that may be a suspended host; clocks that are brought into line differ by less. */
    private static final long LEAST_SLEEP = Duration.ofSeconds(1).toNanos();

    private State state = State.HELD;
    private long deadline;
    private @Nullable Gone lostBecause;
    private boolean told;
    private boolean callsBack;

    /** Both clocks as they were before the request was sent that confirmed the lease last. */
    private Clocks confirmedAt;

    /** The confirmation after which the database was asked whether the lease is still held. */
    private @Nullable Clocks doubtedAfter;

    LeaseState(Clocks acquired, long deadline) {
        this.confirmedAt = acquired;
        this.deadline = deadline;
    }

    /** Returns the state without counting as having told the holder. */
    State now() {
        return locked(() -> state);
    }

    /** Tells the holder the state. */
    State tell() {
        return locked(() -> {
            told |= state == State.LOST;
            return state;
        });
    }

    /** Tells the holder why the lease is not held; null if it was not lost. */
    @Nullable
    Gone tellWhyLost() {
        tell();
        return locked(() -> lostBecause);
    }

    /** Tells the holder if the lease was lost and it does not know; returns whether that is so, to one caller only. */
    boolean tellIfUntold() {
        return locked(() -> {
            boolean untold = state == State.LOST && !told;
            told |= untold;
            return untold;
        });
    }

    /** Tells whether the lease is held as far as is known here. */
    boolean active() {
        return isActive(now());
    }

    static boolean isActive(State state) {
        return state != State.LOST && state != State.RELEASED;
    }

    long deadline() {
        return locked(() -> deadline);
    }

    Clocks confirmedAt() {
        return locked(() -> confirmedAt);
    }

    /** Sets what both clocks showed when the lease was last known to be held. */
    void confirmedAt(Clocks clocks) {
        locked(() -> confirmedAt = clocks);
    }

    /**
     * Notes that the database has confirmed that the lease lasts for so many nanoseconds from the given moment. An answer that a
     * later one has overtaken says no more than that, and nothing if the host slept between the two; returns whether this one is
     * the newest.
     */
    boolean confirm(Clocks sentAt, long nanos) {
        return locked(() -> {
            long until = sentAt.ticks() + nanos;
            boolean newest = sentAt.ticks() - confirmedAt.ticks() >= 0;
            boolean slept = newest ? slept(sentAt) > 0 : sentAt.wallRanAhead(confirmedAt) > LEAST_SLEEP;
            // what was known before the host slept is worth nothing after it: this clock stood still
            deadline = !slept ? Math.max(deadline, until) : newest ? until : deadline;
            confirmedAt = newest ? sentAt : confirmedAt;
            state = newest && isActive(state) ? State.HELD : state;
            return newest;
        });
    }

    /** Marks the lease as in doubt, not lost, unless it was confirmed since the request was sent; returns whether that is new. */
    boolean doubt(State doubtful, Clocks sentAt) {
        return locked(() -> {
            boolean changed = isActive(state) && state != doubtful && confirmedAt.ticks() - sentAt.ticks() <= 0;
            state = changed ? doubtful : state;
            return changed;
        });
    }

    /** Ends the lease as given back; returns whether it was active. */
    boolean release() {
        return locked(() -> {
            boolean active = isActive(state);
            state = active ? State.RELEASED : state;
            return active;
        });
    }

    /**
     * Ends the lease as lost, for ever; false if it had ended before.
     *
     * @param released whether it was given back, and only turns out now to have been lost before
     */
    boolean lose(boolean released, Gone reason) {
        return locked(() -> {
            if (released ? state != State.RELEASED : !isActive(state)) {
                return false;
            }
            state = State.LOST;
            lostBecause = reason;
            told |= callsBack;
            return true;
        });
    }

    /** Notes that the holder is called back when the lease is lost, or at once if it was lost before. */
    void callsBack() {
        locked(() -> {
            callsBack = true;
            return told |= state == State.LOST;
        });
    }

    /** Tells whether the lease is active though its deadline has passed. */
    boolean isOverdue(long now) {
        return locked(() -> isActive(state) && now - deadline >= 0);
    }

    /** Returns how many nanoseconds the host may have slept since the last confirmation: the monotonic clock counts none. */
    long slept(Clocks now) {
        long ahead = confirmedAt().wallRanAhead(now);
        return ahead > LEAST_SLEEP ? ahead : 0;
    }

    /**
     * Returns the last confirmation if the wall clock says that the lease is over, once for each: the monotonic clock stands still
     * while the host is suspended; the wall clock does not, but may step for other reasons. Otherwise null.
     */
    @Nullable
    Clocks doubtfulSince(Clocks now) {
        return locked(() -> {
            long slept = slept(now);
            boolean over = isActive(state) && slept > 0 && now.ticks() - deadline + slept >= 0;
            boolean first = over && doubtedAfter != confirmedAt;
            doubtedAfter = over ? confirmedAt : doubtedAfter;
            return first ? confirmedAt : null;
        });
    }
}
