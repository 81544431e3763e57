// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PlanTest {

    private static Plan<Integer> countedTo(int end, int from) {
        return Plan.of(from).then(now -> now == end ? Plan.of(now) : countedTo(end, now + 1));
    }

    /** Runs plans that ask nothing. */
    private static final Runner NO_DATABASE = new Runner() {
        @Override
        public <T> T ask(Ask<T> ask) {
            throw new AssertionError("nothing is asked");
        }

        @Override
        public <T extends @Nullable Object> T visit(boolean together, Plan<T> plan) {
            throw new AssertionError("nothing is asked");
        }

        @Override
        public boolean pause(long millis) {
            throw new AssertionError("nobody sleeps");
        }
    };

    @Test
    void plan_that_goes_on_with_itself_takes_no_more_of_the_stack_the_longer_it_does() {
        assertThat(countedTo(1_000_000, 0).run(NO_DATABASE)).isEqualTo(1_000_000);
    }
}
