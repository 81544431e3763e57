// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
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

    private final List<Integer> asked = new ArrayList<>();

    /** Asks for all numbers below eight at once, and for less where that is cancelled. */
    private Plan<Boolean> halved(Predicate<List<Integer>> fails, String state) {
        DatabaseException failure = Database.failure(new SQLException("why", state));
        return Plan.halved(
                IntStream.range(0, 8).boxed().toList(),
                part -> Plan.later(() -> {
                    asked.add(part.size());
                    return fails.test(part) ? Plan.failed(failure) : Plan.of(true);
                }));
    }

    @Test
    void what_the_server_cancels_is_asked_in_halves() {
        assertThat(halved(part -> part.size() > 2, "57014").run(NO_DATABASE)).isTrue();

        assertThat(asked).containsExactly(8, 4, 2, 2, 4, 2, 2);
    }

    @Test
    void one_element_that_is_cancelled_ends_it_as_the_server_is_slow_then() {
        Plan<Boolean> plan = halved(part -> true, "57014");

        assertThatThrownBy(() -> plan.run(NO_DATABASE)).isInstanceOf(DatabaseException.class);

        assertThat(asked).containsExactly(8, 4, 2, 1);
    }

    @Test
    void what_fails_for_another_reason_is_not_asked_again() {
        for (String state : List.of("08006", "57P01", "55P03", "40001", "53300")) {
            Plan<Boolean> plan = halved(part -> true, state);
            asked.clear();

            assertThatThrownBy(() -> plan.run(NO_DATABASE)).isInstanceOf(DatabaseException.class);

            assertThat(asked).containsExactly(8);
        }
    }
}
