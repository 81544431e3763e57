// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What happened in one lane, from the first move to the last. Thread-safe. */
public final class Play {

    /** Who moves. */
    public enum Actor {
        /** Starts the shipping. */
        OPERATOR,
        /** Changes the order. */
        CUSTOMER
    }

    /** How a move looks. */
    public enum Tone {
        /** Nothing special. */
        PLAIN,
        /** It waits. */
        WAIT,
        /** It is done. */
        DONE,
        /** It was refused. */
        REFUSED
    }

    /**
     * One move.
     *
     * @param ms since the play began
     * @param key of its text
     * @param arguments of its text
     */
    public record Move(long ms, Actor actor, Tone tone, String key, Object... arguments) {}

    /**
     * How it ended.
     *
     * @param damaged whether what is stored makes no sense
     * @param shipped whether the parcel is on its way
     * @param parcel what is on the parcel, or in it
     * @param stored what the order says
     * @param versionBefore the order's version when it began
     * @param versionAfter the order's version now
     */
    public record Outcome(
            boolean damaged,
            boolean shipped,
            @Nullable String parcel,
            String stored,
            long versionBefore,
            long versionAfter) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final long began = System.nanoTime();
    private final long number;
    private final long versionBefore;
    private final Runnable changed;
    private final List<Move> moves = new ArrayList<>();
    private final List<Actor> acted = new ArrayList<>();
    private int running;
    private @Nullable Integer packed;
    private @Nullable Outcome outcome;

    /** {@code changed} is told of each move as soon as it can be seen. */
    Play(long number, long versionBefore, Runnable changed) {
        this.number = number;
        this.versionBefore = versionBefore;
        this.changed = changed;
    }

    /** Lets one join who has not acted yet, as long as the other is still at it, or nobody has begun. */
    boolean join(Actor actor) {
        return locked(() -> {
            boolean over = !acted.isEmpty() && running == 0;
            if (over || acted.contains(actor)) {
                return false;
            }
            acted.add(actor);
            running++;
            return true;
        });
    }

    /** One has ended; true for the last. */
    boolean ended() {
        return locked(() -> --running == 0);
    }

    void outcome(Outcome known) {
        locked(() -> outcome = known);
        changed.run();
    }

    void add(Actor actor, Tone tone, String key, Object... arguments) {
        long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        locked(() -> moves.add(new Move(ms, actor, tone, key, arguments)));
        changed.run();
    }

    void packed(int quantity) {
        locked(() -> packed = quantity);
    }

    @Nullable
    Integer packed() {
        return locked(() -> packed);
    }

    long versionBefore() {
        return versionBefore;
    }

    /** Which one it is, counted from 1. */
    public long number() {
        return number;
    }

    /** Whether it goes on. */
    public boolean isRunning() {
        return locked(() -> running > 0);
    }

    /** What happened so far. */
    public List<Move> moves() {
        return locked(() -> List.copyOf(moves));
    }

    /** How it ended; null while it goes on. */
    public @Nullable Outcome outcome() {
        return locked(() -> outcome);
    }

    private <T extends @Nullable Object> T locked(Supplier<T> body) {
        lock.lock();
        try {
            return body.get();
        } finally {
            lock.unlock();
        }
    }
}
