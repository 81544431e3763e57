// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Twenty requests, and what becomes of each. Thread-safe. */
public final class CardRun {

    /** How many there are. */
    public static final int REQUESTS = 20;

    /** What becomes of one. */
    public enum Cell {
        /** It waits. */
        WAITING,
        /** It looks at the cards. */
        INSIDE,
        /** It has added one. */
        ADDED,
        /** It has added one, and its caller was told that it failed. */
        ADDED_BUT_FAILED,
        /** It was told that the user has two. */
        FULL,
        /** It failed. */
        FAILED
    }

    private final AtomicReferenceArray<Cell> cells = new AtomicReferenceArray<>(REQUESTS);
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger mostInside = new AtomicInteger();
    private volatile int cards;
    private volatile boolean over;
    private volatile boolean leftLocked;
    private volatile @Nullable String trouble;

    private final int number;

    CardRun(int number) {
        this.number = number;
        IntStream.range(0, REQUESTS).forEach(i -> cells.set(i, Cell.WAITING));
    }

    Cell set(int request, Cell cell) {
        Cell before = cells.getAndSet(request, cell);
        if (cell == Cell.INSIDE) {
            mostInside.accumulateAndGet(inside.incrementAndGet(), Math::max);
        } else if (before == Cell.INSIDE) {
            inside.decrementAndGet();
        }
        return cell;
    }

    Cell get(int request) {
        return cells.get(request);
    }

    void over(int count, boolean stillLocked) {
        cards = count;
        leftLocked = stillLocked;
        over = true;
    }

    void trouble(String message) {
        trouble = message;
    }

    /** Which one it is, counted from 1. */
    public int number() {
        return number;
    }

    /** What became of each. */
    public List<Cell> cells() {
        return IntStream.range(0, REQUESTS).mapToObj(cells::get).toList();
    }

    /** How many cards the user has: those that were seen to be added, and in the end those that are there. */
    public long cards() {
        return over
                ? cards
                : cells().stream()
                        .filter(cell -> cell == Cell.ADDED || cell == Cell.ADDED_BUT_FAILED)
                        .count();
    }

    /** How many were at it at the same time. */
    public int mostInside() {
        return mostInside.get();
    }

    /** How many callers were told that something went wrong. */
    public long failures() {
        return cells().stream()
                .filter(cell -> cell == Cell.FAILED || cell == Cell.ADDED_BUT_FAILED)
                .count();
    }

    /** What one of them was told. */
    public @Nullable String trouble() {
        return trouble;
    }

    /** Whether all have their answer. */
    public boolean isOver() {
        return over;
    }

    /** Whether the lock was never given back. */
    public boolean isLeftLocked() {
        return leftLocked;
    }

    /** Whether the user has more than two. */
    public boolean isDamaged() {
        return cards() > Cards.MOST;
    }
}
