// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulation has teeth: it finds each of these flaws when it is planted into the engine. {@code ./mvnw verify} runs it, {@code
 * ./mvnw test} does not.
 */
@Tag("mutants")
class MutantsTest {

    private static final boolean SOAK = Boolean.getBoolean("bitjang.soak");
    private static final long SEEDS = SOAK ? 100_000 : 5_000;
    private static final long MILLIS = 120_000;

    static Stream<Mutant> mutants() {
        return Stream.concat(Mutants.ALL.stream(), LineMutants.ALL.stream());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mutants")
    void simulation_finds_the_planted_flaw(Mutant mutant, @TempDir Path folder) throws Exception {
        Method firstBroken =
                mutant.load(SimHistory.class, folder).getDeclaredMethod("firstBroken", long.class, long.class);
        firstBroken.setAccessible(true);

        Object found = firstBroken.invoke(null, SEEDS, MILLIS);

        assertThat(found).as("what the simulation says of: " + mutant).isNotNull();
    }
}
