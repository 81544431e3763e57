// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Runs histories of the simulated world, each made by its seed. */
final class SimHistory {

    private static final int STEPS = 300;

    private SimHistory() {}

    /** Lives through the history of a world and returns the promise that was broken; null if all were kept. */
    static @Nullable Throwable failureOf(SimWorld world) {
        // faults are what the engine warns of, and thousands of them are made here
        Logger logger = Logger.getLogger("io.bitjang");
        @Nullable Level before = logger.getLevel();
        logger.setLevel(Level.OFF);
        try {
            world.live(STEPS);
            world.settle();
            return null;
        } catch (SimWorld.Broken e) {
            return e;
        } finally {
            logger.setLevel(before);
        }
    }

    /**
     * Runs seed after seed and says which was the first with a broken promise, and which promise; null if there was none within so
     * many seeds and milliseconds. {@link MutantsTest} calls it by reflection, on an engine that is broken on purpose.
     */
    static @Nullable String firstBroken(long seeds, long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        for (long seed = 1; seed <= seeds && System.nanoTime() - end < 0; seed++) {
            @Nullable Throwable failure = failureOf(new SimWorld(Choices.of(seed), false));
            if (failure != null) {
                return "seed " + seed + ": " + failure.getMessage();
            }
        }
        return null;
    }
}
