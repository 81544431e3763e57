// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease.State;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.time.Ticker;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A lease is closed at the moment at which it is found to be lost. */
class ClosingRaceTest extends OnEngine {

    private static final int ROUNDS = 3_000;

    private final AtomicInteger begun = new AtomicInteger();

    /** Both threads set out for a round together. */
    private void meet(int round) {
        begun.incrementAndGet();
        for (int spins = 0; begun.get() < 2 * round; spins++) {
            if (spins < 10_000) {
                Thread.onSpinWait();
            } else {
                // the other has no core now: not for a whole time slice in each of the rounds
                Thread.yield();
            }
        }
    }

    private LeaseHandle lease(int round) {
        GrantKey key = new GrantKey(JOB, round, GrantKey.newSecret());
        return new LeaseHandle(
                engine,
                engine.instance.driver,
                List.of(JOB),
                key,
                request(),
                new LeaseState(Ticker.SYSTEM.clocks(), Ticker.SYSTEM.clocks().ticks() + LONG.toNanos()));
    }

    @Test
    void whoever_closes_a_lost_lease_is_told() throws Exception {
        List<LeaseHandle> leases =
                IntStream.rangeClosed(1, ROUNDS).mapToObj(this::lease).toList();
        Job<Integer> loses = start(() -> {
            for (int round = 1; round <= ROUNDS; round++) {
                meet(round);
                leases.get(round - 1).lose(Gone.lost("it was taken"));
            }
            return ROUNDS;
        });

        int toldAtClose = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            LeaseHandle lease = leases.get(round - 1);
            meet(round);
            try {
                lease.close();
            } catch (NoLockException e) {
                toldAtClose++;
            }
        }

        assertThat(loses.result()).isEqualTo(ROUNDS);
        // whichever thread came first: another has it, which the release finds out, too
        assertThat(toldAtClose).isEqualTo(ROUNDS);
        assertThat(leases).allMatch(lease -> lease.state() == State.LOST);
    }
}
