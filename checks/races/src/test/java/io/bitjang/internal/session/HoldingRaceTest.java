// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static io.bitjang.races.Race.promise;

import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.internal.sql.Sessions;
import io.bitjang.races.HandWorkers;
import io.bitjang.races.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A hold of a session lock is closed, or taken again, while the lock is given back or lost. */
class HoldingRaceTest {

    /** One hold. */
    public static class Held {
        final AtomicInteger released = new AtomicInteger();
        final Holding holding = new Holding(
                new HandWorkers(),
                given -> released.incrementAndGet(),
                Sessions.JOB,
                new Grant(Sessions.link(), "key"),
                Thread.currentThread());
        final SessionLock.Hold hold = holding.hold();
        volatile boolean told;

        final void close() {
            try {
                hold.close();
            } catch (NoLockException e) {
                told = true;
            }
        }
    }

    /** The session dies while the last hold is closed. */
    public static class Closed extends Held {
        private volatile boolean lost;

        @Operation
        public void closes() {
            close();
        }

        @Operation
        public void dies() {
            lost = holding.lose("it died");
        }

        @Validate
        public void promised() {
            promise("it is either given back or lost", lost == (released.get() == 0));
            promise("a loss is told, and nothing else", told == lost);
        }
    }

    @Test
    void session_lock_that_is_closed_while_it_is_lost_is_given_back_or_the_loss_is_told() {
        Race.tryOrders(Closed.class);
    }

    /** The session dies while a callback is added. */
    public static class CalledBack extends Held {
        private volatile int called;
        private volatile boolean lost;

        @Operation
        public void adds() {
            hold.onLost(each -> called++);
            close();
        }

        @Operation
        public void dies() {
            lost = holding.lose("it died");
        }

        @Validate
        public void promised() {
            promise("it is called once if it was lost", called == (lost ? 1 : 0));
            promise("one who is called back is not told again", !told);
        }
    }

    @Test
    void loss_of_a_session_lock_is_told_by_callback_once_whenever_it_was_added() {
        Race.tryOrders(CalledBack.class);
    }

    /** It is taken again while its last hold is closed. */
    public static class TakenAgain extends Held {
        private volatile SessionLock.@Nullable Hold again;

        @Operation
        public void closes() {
            close();
        }

        @Operation
        public void takesAgain() {
            try {
                again = hold.again();
            } catch (NoLockException e) {
                again = null;
            }
        }

        @Validate
        public void promised() {
            promise("it is either held or given back", (again != null) == (released.get() == 0));
            promise("a hold holds", again == null || again.isHeld());
        }
    }

    @Test
    void session_lock_that_is_taken_again_while_it_is_given_back_is_held_or_refused() {
        Race.tryOrders(TakenAgain.class);
    }
}
