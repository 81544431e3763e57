// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The choices that make a history: each a number below a limit, from a list, or by chance once the list has ended. A list that is
 * shorter, or has smaller numbers, makes a simpler history. Not thread-safe.
 */
final class Choices {

    private final int[] given;
    private final SplittableRandom random;
    private int[] made = new int[256];
    private int count;

    private Choices(int[] given, long seed) {
        this.given = given;
        this.random = new SplittableRandom(seed);
    }

    /** By chance alone. */
    static Choices of(long seed) {
        return new Choices(new int[0], seed);
    }

    /** As listed; zero after the end of the list. */
    static Choices again(int[] given) {
        return new Choices(given, 0);
    }

    /** A number from zero to below the limit. */
    int below(int limit) {
        int choice;
        if (count < given.length) {
            choice = given[count] % limit;
        } else {
            choice = given.length > 0 ? 0 : random.nextInt(limit);
        }
        if (count == made.length) {
            made = Arrays.copyOf(made, 2 * count);
        }
        made[count++] = choice;
        return choice;
    }

    /** True once in so many times; false is the simpler choice. */
    boolean onceIn(int times) {
        return below(times) == times - 1;
    }

    /** All that were made. */
    int[] made() {
        return Arrays.copyOf(made, count);
    }
}
