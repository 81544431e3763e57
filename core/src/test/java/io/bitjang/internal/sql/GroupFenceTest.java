// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockName;
import io.bitjang.internal.time.HandTicker;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Where each lock of a group is granted with a fence of its own, as on MariaDB after its clock has stepped back. */
class GroupFenceTest {

    private static final LockName LESS = LockName.of("less");
    private static final LockName MORE = LockName.of("more");
    private static final List<LockName> BOTH = List.of(LESS, MORE);

    private final SimTable table = new SimTable(SimRows.Server.FAILS, (name, before, after) -> {});
    private final LockStore store = table.store(new HandTicker(), new Secrets());

    private static final class Secrets implements java.util.function.Supplier<String> {
        private int made;

        @Override
        public String get() {
            return "secret-" + ++made;
        }
    }

    /** Runs each statement in a transaction of its own; something happens before the fences are made the same. */
    private final class Runs implements Runner {
        private final Runnable between;

        Runs(Runnable between) {
            this.between = between;
        }

        @Override
        public <T> T ask(Ask<T> ask) {
            if (ask.sql().text().equals(SimDialect.RAISE_FENCES)) {
                between.run();
            }
            SimTable.Transaction transaction = table.begin();
            T answer = table.run(transaction, ask);
            transaction.commit();
            return answer;
        }

        @Override
        public <T extends @Nullable Object> T visit(boolean together, Plan<T> plan) {
            return plan.run(this);
        }

        @Override
        public boolean pause(long millis) {
            throw new AssertionError("nobody sleeps");
        }
    }

    private <T extends @Nullable Object> T run(Plan<T> plan) {
        return plan.run(new Runs(() -> {}));
    }

    private Claim claim() {
        return new Claim(store.newSecret(), "kim", 60_000_000, null, null, 0);
    }

    private ClaimResult takenAndFreed(LockName name) {
        ClaimResult taken = run(store.acquire(name, claim()));
        run(store.release(name, taken.grantedSecret(), false));
        return taken;
    }

    private void clockStepsBackAfterGrantsThatDiffer() {
        takenAndFreed(LESS);
        table.clock += 10;
        takenAndFreed(MORE);
        table.clock -= 1_000_000;
    }

    @Test
    void locks_of_a_group_get_the_largest_fence_among_them() {
        clockStepsBackAfterGrantsThatDiffer();

        ClaimResult both = run(store.acquireAll(BOTH, claim()));

        assertThat(both.granted()).isTrue();
        assertThat(run(store.read(BOTH)).values()).extracting(LockRow::fence).containsOnly(both.fence());
    }

    /** The next grant of that lock could have the same fence otherwise. */
    @Test
    void group_is_not_granted_if_a_lock_was_taken_away_before_it_got_the_common_fence() {
        clockStepsBackAfterGrantsThatDiffer();
        Runs takesAway = new Runs(() -> {
            long fence = run(store.read(LESS)).orElseThrow().fence();
            assertThat(run(store.admin().force(LESS, fence, "ops", "why", false, false)))
                    .isTrue();
        });

        assertThatThrownBy(() -> store.acquireAll(BOTH, claim()).run(takesAway))
                .isInstanceOfSatisfying(
                        DatabaseException.class,
                        e -> assertThat(e.meaning()).isEqualTo(DatabaseException.Meaning.FAILED))
                .hasMessageContaining("no common fence");
    }
}
