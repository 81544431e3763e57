// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static io.bitjang.races.Race.promise;

import io.bitjang.Wait;
import io.bitjang.internal.sql.OneRow;
import io.bitjang.races.Race;
import io.bitjang.races.StillTicker;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** A queue is joined while it empties, and tried for by several at a time. */
class WaitQueueRaceTest {

    private static final Request REQUEST = Request.of("node", Parts.LASTS, null);

    /** A queue, and one who waits. */
    public static class Queue {
        private final StillTicker ticker = new StillTicker();
        final WaitQueue queue = new WaitQueue(ticker, List.of(OneRow.JOB), new FairShare(ticker));
        final LeaseWaiter waiter = new LeaseWaiter(ticker, List.of(OneRow.JOB), REQUEST, Wait.forever());
    }

    /** It is joined while it empties. */
    public static class Joined extends Queue {
        private volatile boolean joined;
        private volatile boolean retired;

        @Operation
        public void isJoined() {
            joined = queue.add(waiter);
        }

        @Operation
        public void empties() {
            retired = queue.retireIfEmpty();
        }

        @Validate
        public void promised() {
            promise("it is either joined or retired", joined != retired);
        }
    }

    @Test
    void nobody_joins_a_queue_that_has_been_retired() {
        Race.tryOrders(Joined.class);
    }

    /** The lock becomes free while an attempt is under way. */
    public static class TriedForByTwo extends Queue {
        private volatile boolean free;
        private boolean inside;
        private boolean met;
        private volatile boolean taken;

        private void tryFor() {
            boolean again = true;
            while (again && queue.beginAttempt() != null) {
                met |= inside;
                inside = true;
                taken = free;
                inside = false;
                again = queue.attempted(taken);
            }
        }

        public TriedForByTwo() {
            queue.add(waiter);
        }

        @Operation
        public void polls() {
            tryFor();
        }

        @Operation
        public void isFreed() {
            free = true;
            tryFor();
        }

        @Validate
        public void promised() {
            promise("one attempt at a time", !met);
            promise("one was made after it became free", taken);
        }
    }

    @Test
    void one_attempt_is_under_way_and_news_that_comes_meanwhile_leads_to_another() {
        Race.tryOrders(TriedForByTwo.class);
    }
}
