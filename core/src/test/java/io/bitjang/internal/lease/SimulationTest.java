// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The real engine in a simulated world: what happens when is chosen by a seed, and the promises are looked at after every step. */
class SimulationTest {

    private static final int SEEDS =
            Integer.getInteger("simulation.seeds", Boolean.getBoolean("bitjang.soak") ? 1_000_000 : 3_000);

    @Test
    void promises_hold_after_every_step_of_every_history() {
        @Nullable Long only = Long.getLong("simulation.seed");
        long first = only == null ? 1 : only;
        long last = only == null ? SEEDS : only;
        SimHistory.Seeds seeds = SimHistory.run(first, last, Long.MAX_VALUE / 1_000_000);
        Map.@Nullable Entry<Long, Throwable> failed = seeds.failed();
        if (failed != null) {
            throw SimHistory.quietly(() -> explained(failed.getKey()));
        }
        if (only == null) {
            // a single history may have few
            assertThat(seeds.served()).as("leases that somebody got").isGreaterThan(5L * SEEDS);
        }
    }

    @Test
    void every_seed_makes_the_same_history_again() {
        SimHistory.quietly(() -> {
            for (long seed = 1; seed <= 50; seed++) {
                SimWorld one = new SimWorld(Choices.of(seed), true);
                SimHistory.failureOf(one);
                SimWorld two = new SimWorld(Choices.of(seed), true);
                SimHistory.failureOf(two);
                assertThat(two.trace()).isEqualTo(one.trace()).isNotEmpty();
            }
            return null;
        });
    }

    /** With the shortest history that still fails. */
    private static AssertionError explained(long seed) {
        Choices choices = Choices.of(seed);
        @Nullable Throwable failure = SimHistory.failureOf(new SimWorld(choices, false));
        if (failure == null) {
            return new AssertionError("Seed " + seed + " fails, but not when it runs alone");
        }
        int[] shortest = choices.made();
        boolean shorter = true;
        while (shorter) {
            shorter = false;
            for (int size = Math.max(1, shortest.length / 2); size >= 1; size /= 2) {
                for (int from = 0; from + size <= shortest.length; from += size) {
                    int[] candidate = without(shortest, from, size);
                    if (SimHistory.failureOf(new SimWorld(Choices.again(candidate), false)) != null) {
                        shortest = candidate;
                        shorter = true;
                    }
                }
            }
        }
        SimWorld world = new SimWorld(Choices.again(shortest), true);
        @Nullable Throwable again = SimHistory.failureOf(world);
        return new AssertionError(
                "Seed " + seed + ": " + failure.getMessage()
                        + "\nRepeat it with -Dtest=SimulationTest -Dsimulation.seed="
                        + seed + "\nThe shortest history that fails (" + (again == null ? null : again.getMessage())
                        + "):\n" + world.trace() + Arrays.toString(shortest),
                failure);
    }

    private static int[] without(int[] choices, int from, int size) {
        int[] left = new int[choices.length - size];
        System.arraycopy(choices, 0, left, 0, from);
        System.arraycopy(choices, from + size, left, from, choices.length - from - size);
        return left;
    }
}
