// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static io.bitjang.races.Race.promise;

import io.bitjang.Lease.State;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.time.Clocks;
import io.bitjang.races.Race;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** A lease is given back, lost and confirmed at the same time. */
class LeaseStateRaceTest {

    private static final Gone TAKEN = Gone.lost("it was taken");

    private static Clocks at(long ticks) {
        return new Clocks(ticks, ticks / 1_000_000);
    }

    private static LeaseState held() {
        return new LeaseState(at(0), 100);
    }

    /** It is given back and lost. */
    public static class BackOrLost {
        private final LeaseState state = held();
        private volatile boolean released;
        private volatile boolean lost;

        @Operation
        public void isReleased() {
            released = state.release();
        }

        @Operation
        public void isLost() {
            lost = state.lose(false, TAKEN);
        }

        @Validate
        public void promised() {
            promise("one of the two ended it", released != lost);
            promise("and that is its end", state.now() == (released ? State.RELEASED : State.LOST));
        }
    }

    @Test
    void lease_is_either_given_back_or_lost() {
        Race.tryOrders(BackOrLost.class);
    }

    /** It was lost, and two close it. */
    public static class ClosedByTwo {
        private final LeaseState state = held();
        private volatile boolean told;
        private volatile boolean toldToo;

        public ClosedByTwo() {
            state.lose(false, TAKEN);
        }

        @Operation
        public void closes() {
            told = state.tellIfUntold();
        }

        @Operation
        public void closesToo() {
            toldToo = state.tellIfUntold();
        }

        @Validate
        public void promised() {
            promise("one of them is told", told != toldToo);
        }
    }

    @Test
    void loss_is_told_to_one_of_those_who_close() {
        Race.tryOrders(ClosedByTwo.class);
    }

    /** The answer of a renewal comes. */
    public static class ConfirmedLate {
        private final LeaseState state = held();

        @Operation
        public void isConfirmed() {
            state.confirm(at(10), 100);
        }

        @Operation
        public void isLost() {
            state.lose(false, TAKEN);
        }

        @Validate
        public void promised() {
            promise("it stays lost", state.now() == State.LOST);
        }
    }

    @Test
    void renewal_that_comes_late_does_not_bring_a_lost_lease_back() {
        Race.tryOrders(ConfirmedLate.class);
    }

    /** The answers of two renewals come. */
    public static class ConfirmedTwice {
        private final LeaseState state = held();

        @Operation
        public void isConfirmed() {
            state.confirm(at(10), 120);
        }

        @Operation
        public void isConfirmedLater() {
            state.confirm(at(20), 105);
        }

        @Validate
        public void promised() {
            promise("the newer counts", state.confirmedAt().ticks() == 20);
            promise("it lasts as long as the longer says", state.deadline() == 130);
        }
    }

    @Test
    void newest_of_two_answers_counts_and_shortens_nothing() {
        Race.tryOrders(ConfirmedTwice.class);
    }

    /** A request that was sent before another fails. */
    public static class Doubted {
        private final LeaseState state = held();

        @Operation
        public void isConfirmed() {
            state.confirm(at(20), 100);
        }

        @Operation
        public void isDoubted() {
            state.doubt(State.UNKNOWN, at(10));
        }

        @Validate
        public void promised() {
            promise("it is held for certain", state.now() == State.HELD);
        }
    }

    @Test
    void doubt_from_before_a_renewal_does_not_outlast_it() {
        Race.tryOrders(Doubted.class);
    }
}
