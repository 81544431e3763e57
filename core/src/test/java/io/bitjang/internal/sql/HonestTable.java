// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.TableHistory.Differs;
import io.bitjang.internal.sql.TableHistory.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Shows that the simulated table is honest: random histories of statements are answered as a server answers them. */
public final class HonestTable {

    private static final int STEPS = 60;
    private static final long SHRINKING_NANOS = TimeUnit.SECONDS.toNanos(40);

    private final DataSource source;
    private final Tables tables;

    /** On the server behind this source, whose tables have this prefix and are nobody else's. */
    public HonestTable(DataSource source, String prefix) {
        this.source = source;
        this.tables = new Tables(null, prefix);
    }

    /**
     * Lives through so many histories; only one, if {@code simulation.seed} says which.
     *
     * @return how many statements had to wait
     * @throws AssertionError with the seed and the shortest history that is answered differently
     */
    public int livesThrough(int histories) throws Exception {
        @Nullable Long only = Long.getLong("simulation.seed");
        int waits = 0;
        try (RealTable real = new RealTable(source, tables)) {
            for (long seed = only == null ? 1 : only; seed <= (only == null ? histories : only); seed++) {
                List<Step> steps = Step.random(seed, STEPS);
                TableHistory history = new TableHistory(real);
                try {
                    history.run(steps);
                } catch (Differs e) {
                    throw explained(real, seed, steps, e);
                }
                waits += history.waits;
            }
        }
        return waits;
    }

    private static AssertionError explained(RealTable real, long seed, List<Step> steps, Differs first)
            throws Exception {
        List<Step> shortest = steps;
        long end = System.nanoTime() + SHRINKING_NANOS;
        boolean shorter = true;
        while (shorter && System.nanoTime() < end) {
            shorter = false;
            for (int size = Math.max(1, shortest.size() / 2); size >= 1; size /= 2) {
                for (int from = 0; from + size <= shortest.size() && System.nanoTime() < end; ) {
                    List<Step> candidate = new ArrayList<>(shortest);
                    candidate.subList(from, from + size).clear();
                    if (failureOf(new TableHistory(real), candidate) == null) {
                        from += size;
                    } else {
                        shortest = candidate;
                        shorter = true;
                    }
                }
            }
        }
        TableHistory history = new TableHistory(real);
        @Nullable Differs again = failureOf(history, shortest);
        return new AssertionError(
                "Seed " + seed + " on " + real.dialect.id() + ", repeat it with -Dsimulation.seed=" + seed + "\n"
                        + first.getMessage() + "\nThe shortest history that is answered differently:\n"
                        + history.told() + "\n"
                        + (again == null ? "(not the next time: " + steps + ")" : again.getMessage()),
                first);
    }

    private static @Nullable Differs failureOf(TableHistory history, List<Step> steps) throws Exception {
        try {
            history.run(steps);
            return null;
        } catch (Differs e) {
            return e;
        }
    }
}
