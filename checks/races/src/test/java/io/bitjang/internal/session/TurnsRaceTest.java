// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static io.bitjang.races.Race.promise;

import io.bitjang.LockException;
import io.bitjang.Wait;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.sql.Sessions;
import io.bitjang.races.HandWorkers;
import io.bitjang.races.Race;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A session lock passes on while its session dies, or while others come and leave. */
class TurnsRaceTest {

    /** A lock of one session that somebody here tries for. */
    public static class Begun {
        final HandWorkers workers = new HandWorkers();
        final Turns turns = new Turns(workers, given -> {}, 10);
        final SessionLink link = Sessions.link();
        final Grant grant = new Grant(link, "key");

        Begun() {
            turns.begin(Sessions.JOB);
        }

        final SessionWaiter waiter() {
            return new SessionWaiter(workers.ticker(), Sessions.JOB, Wait.forever());
        }

        /** Joins the line on a thread of its own: whoever has the lock would wait for itself. */
        final SessionWaiter inLine() {
            SessionWaiter[] joined = new SessionWaiter[1];
            Thread thread = new Thread(() -> {
                joined[0] = waiter();
                turns.join(joined[0]);
            });
            thread.start();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return joined[0];
        }

        static boolean has(SessionWaiter waiter) {
            return waiter.isDone() && !waiter.result().isCompletedExceptionally();
        }
    }

    /** Its session dies while it passes on. */
    public static class Dies extends Begun {
        private final @Nullable Holding holding = turns.taken(Sessions.JOB, grant);
        private final SessionWaiter waiter = inLine();
        private volatile @Nullable Holding passed;

        @Operation
        public void passesOn() {
            passed = turns.passedOn(holding);
        }

        @Operation
        public void dies() {
            link.die();
            turns.on(link).forEach(each -> each.lose("it died"));
        }

        @Validate
        public void promised() {
            promise("whoever has it knows that it is lost", passed == null || !passed.isHeld());
            promise("whoever does not have it still waits", has(waiter) == (passed != null));
        }
    }

    @Test
    void session_lock_that_passes_on_while_its_session_dies_is_told_lost_or_still_waited_for() {
        Race.tryOrders(Dies.class);
    }

    /** Somebody comes while it is freed. */
    public static class Comes extends Begun {
        private volatile boolean again;
        private volatile boolean first;

        @Operation
        public void isFreed() {
            again = turns.free(Sessions.JOB);
        }

        @Operation
        public void comes() {
            first = turns.join(waiter());
        }

        @Validate
        public void promised() {
            promise("one of the two must try for it", again != first);
        }
    }

    @Test
    void one_who_comes_while_a_session_lock_is_freed_is_tried_for_by_one() {
        Race.tryOrders(Comes.class);
    }

    /** The only one in line leaves while it is granted. */
    public static class Leaves extends Begun {
        private final SessionWaiter waiter = inLine();
        private volatile @Nullable Holding granted;
        private volatile boolean nobodyLeft;

        @Operation
        public void isGranted() {
            granted = turns.granted(Sessions.JOB, grant);
        }

        @Operation
        public void leaves() {
            waiter.fail(new LockException(Sessions.JOB, "gone", null));
            nobodyLeft = turns.left(waiter);
        }

        @Validate
        public void promised() {
            promise("it is had or to be given back", has(waiter) == (granted != null));
            promise("nobody holds it for one who has gone", turns.any(link) == (granted != null));
        }
    }

    @Test
    void session_lock_that_is_granted_while_the_only_waiter_leaves_is_had_or_given_back() {
        Race.tryOrders(Leaves.class);
    }
}
