// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs histories of the simulated world, each made by its seed. */
final class SimHistory {

    private static final int STEPS = 300;

    private SimHistory() {}

    /** Lives through the history of a world and returns the promise that was broken; null if all were kept. */
    static @Nullable Throwable failureOf(SimWorld world) {
        try {
            world.live(STEPS);
            world.settle();
            return null;
        } catch (SimWorld.Broken e) {
            return e;
        } finally {
            world.end();
        }
    }

    /** Does something without the warnings of the engine: faults are what it warns of, and thousands of them are made here. */
    static <T extends @Nullable Object> T quietly(Supplier<T> work) {
        Logger logger = Logger.getLogger("io.bitjang");
        @Nullable Level before = logger.getLevel();
        logger.setLevel(Level.OFF);
        try {
            return work.get();
        } finally {
            logger.setLevel(before);
        }
    }

    /** The histories of some seeds, as far as they went: until one failed. */
    static final class Seeds {
        private final AtomicLong next;
        private final ConcurrentSkipListMap<Long, Throwable> failures = new ConcurrentSkipListMap<>();
        private final LongAdder served = new LongAdder();

        private Seeds(long first) {
            this.next = new AtomicLong(first);
        }

        /** The first seed that failed, and the promise that was broken; null if none did. */
        Map.@Nullable Entry<Long, Throwable> failed() {
            return failures.firstEntry();
        }

        /** How many leases somebody got. */
        long served() {
            return served.sum();
        }

        /** Seeds are begun in their order, and each one that was begun is ended: so the first that fails is known. */
        private void run(long last, long endNanos) {
            long seed = next.getAndIncrement();
            while (seed <= last && failures.isEmpty() && System.nanoTime() - endNanos < 0) {
                SimWorld world = new SimWorld(Choices.of(seed), false);
                @Nullable Throwable failure = failureOf(world);
                if (failure != null) {
                    failures.put(seed, failure);
                }
                served.add(world.served());
                seed = next.getAndIncrement();
            }
        }
    }

    /** Runs seed after seed, several at a time, until one fails or the time is over. */
    static Seeds run(long first, long last, long millis) {
        Seeds seeds = new Seeds(first);
        long end = System.nanoTime() + millis * 1_000_000;
        quietly(() -> {
            IntStream.range(0, Runtime.getRuntime().availableProcessors())
                    .parallel()
                    .forEach(any -> seeds.run(last, end));
            return seeds;
        });
        return seeds;
    }

    /**
     * Runs seed after seed and says which was the first with a broken promise, and which promise; null if there was none within so
     * many seeds and milliseconds. {@link MutantsTest} calls it by reflection, on an engine that is broken on purpose.
     */
    static @Nullable String firstBroken(long seeds, long millis) {
        Map.@Nullable Entry<Long, Throwable> failed = run(1, seeds, millis).failed();
        return failed == null
                ? null
                : "seed " + failed.getKey() + ": " + failed.getValue().getMessage();
    }
}
