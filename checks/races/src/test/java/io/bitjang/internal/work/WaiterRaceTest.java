// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import static io.bitjang.races.Race.promise;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.races.Race;
import io.bitjang.races.StillTicker;
import java.time.Duration;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A grant arrives while the one who waits for it leaves. */
class WaiterRaceTest {

    /** Somebody waits, and gets something. */
    public static class Waiting {
        final Waiter<String> waiter;
        volatile @Nullable String had;
        volatile boolean served;

        Waiting(Wait wait) {
            waiter = new Waiter<>(new StillTicker(), List.of(LockName.of("job")), wait);
        }

        final void await() {
            try {
                had = waiter.await();
            } catch (LockException e) {
                had = null;
            }
        }
    }

    /** The waiter's time is over: it looks once, and leaves. */
    public static class AtTheDeadline extends Waiting {

        public AtTheDeadline() {
            super(Wait.upTo(Duration.ZERO));
        }

        @Operation
        public void waits() {
            await();
        }

        @Operation
        public void serves() {
            served = waiter.serve("lease");
        }

        @Validate
        public void promised() {
            promise("whoever serves knows whether it is had", served == (had != null));
        }
    }

    @Test
    void grant_that_meets_the_deadline_is_had_by_the_waiter_or_given_back() {
        Race.tryOrders(AtTheDeadline.class);
    }

    /** The waiter is interrupted. */
    public static class AtAnInterrupt extends Waiting {
        private volatile boolean interrupted;

        public AtAnInterrupt() {
            super(Wait.forever());
        }

        @Operation
        public void waits() {
            Thread.currentThread().interrupt();
            await();
            interrupted = Thread.interrupted();
        }

        @Operation
        public void serves() {
            served = waiter.serve("lease");
        }

        @Validate
        public void promised() {
            promise("the interrupt is not swallowed", interrupted);
            promise("whoever serves knows whether it is had", served == (had != null));
        }
    }

    @Test
    void grant_that_meets_an_interrupt_is_had_by_the_waiter_or_given_back() {
        Race.tryOrders(AtAnInterrupt.class);
    }

    /** Two have something for the same waiter. */
    public static class ServedByTwo extends Waiting {
        private volatile boolean servedToo;

        public ServedByTwo() {
            super(Wait.forever());
        }

        @Operation
        public void waits() {
            await();
        }

        @Operation
        public void serves() {
            served = waiter.serve("first");
        }

        @Operation
        public void servesToo() {
            servedToo = waiter.serve("second");
        }

        @Validate
        public void promised() {
            promise("one of them serves", served != servedToo);
            promise("it has what that one gave", (served ? "first" : "second").equals(had));
        }
    }

    @Test
    void waiter_whom_two_serve_is_served_once_and_not_left_waiting() {
        Race.tryOrders(ServedByTwo.class);
    }
}
