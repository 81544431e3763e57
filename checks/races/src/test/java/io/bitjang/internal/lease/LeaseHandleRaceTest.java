// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static io.bitjang.races.Race.promise;

import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Gone;
import io.bitjang.races.Race;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** A lease is closed, or a callback added to it, while it is lost. */
class LeaseHandleRaceTest {

    private static final Gone TAKEN = Gone.lost("it was taken");

    /** Closes the lease; returns whether that told of the loss. */
    private static boolean toldAtClose(LeaseHandle lease) {
        try {
            lease.close();
            return false;
        } catch (NoLockException e) {
            return true;
        }
    }

    /** It is closed while it is lost. */
    public static class Closed {
        private final Parts parts = new Parts();
        private final LeaseHandle lease = parts.lease(1);
        private volatile boolean told;

        @Operation
        public void closes() {
            told = toldAtClose(lease);
        }

        @Operation
        public void isLost() {
            lease.lose(TAKEN);
        }

        @Validate
        public void promised() {
            promise("it ended once", parts.released.get() + parts.lost.get() == 1);
            promise("a loss is told, and nothing else", told == (parts.lost.get() == 1));
        }
    }

    @Test
    void lease_that_is_closed_while_it_is_lost_is_released_or_the_loss_is_told() {
        Race.tryOrders(Closed.class);
    }

    /** A callback is added while it is lost. */
    public static class CalledBack {
        private final LeaseHandle lease = new Parts().lease(1);
        private volatile int called;
        private volatile boolean told;

        @Operation
        public void isAdded() {
            lease.onLost(lost -> called++);
            told = toldAtClose(lease);
        }

        @Operation
        public void isLost() {
            lease.lose(TAKEN);
        }

        @Validate
        public void promised() {
            promise(
                    "the callback is called once if it was lost",
                    called == (lease.lostBecause().isPresent() ? 1 : 0));
            promise("one who is called back is not told again", !told);
        }
    }

    @Test
    void loss_is_told_by_callback_once_whenever_it_was_added() {
        Race.tryOrders(CalledBack.class);
    }

    /** Its time is over, which the timer and its holder find out. */
    public static class Expired {
        private final Parts parts = new Parts();
        private final LeaseHandle lease = parts.lease(1);
        private volatile boolean told;

        public Expired() {
            parts.workers.pass(Parts.LASTS.toNanos());
        }

        @Operation
        public void closes() {
            told = toldAtClose(lease);
        }

        @Operation
        public void timerLooks() {
            lease.expireIfDue();
        }

        @Validate
        public void promised() {
            promise("it was lost once, and not given back", parts.lost.get() == 1 && parts.released.get() == 0);
            promise("it is released later, once", parts.releasedLater.get() == 1);
            promise("the holder is told", told);
        }
    }

    @Test
    void lease_that_two_find_expired_is_lost_once_and_its_holder_is_told() {
        Race.tryOrders(Expired.class);
    }
}
