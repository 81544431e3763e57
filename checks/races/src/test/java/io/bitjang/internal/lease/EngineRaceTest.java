// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static io.bitjang.races.Race.promise;

import io.bitjang.LockException;
import io.bitjang.Wait;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.OneRow;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.work.Events;
import io.bitjang.races.HandWorkers;
import io.bitjang.races.Race;
import java.time.Duration;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The engine as a whole on a table of one lock: somebody comes or leaves while the lock is given back, or the instance closed. */
class EngineRaceTest {

    private static final long SOON = Duration.ofMillis(100).toNanos();
    private static final Request REQUEST = Request.of("node", Parts.LASTS, null);

    /** These races have many steps. */
    private static final int FEWER = 80;

    /** An engine whose statements are answered at once. */
    public static class Engine {
        final HandWorkers workers = new HandWorkers();
        final OneRow row = new OneRow();
        final LeaseEngine engine;

        Engine() {
            LockStore store = row.store(workers.ticker());
            Settings settings = new Settings("node", Parts.LASTS, Parts.LASTS, false, false);
            engine = new LeaseEngine(
                    new Instance(new WorkerDriver(row, workers), store, new Events(List.of()), settings),
                    row.guard(store),
                    sleepers -> WakeUps.NONE);
        }

        final LeaseHandle take() {
            return engine.run(engine.grants.tryAcquire(List.of(OneRow.JOB), REQUEST))
                    .orElseThrow();
        }

        final LeaseWaiter waiter(Request request) {
            return new LeaseWaiter(workers.ticker(), List.of(OneRow.JOB), request, Wait.forever());
        }

        final void enqueue(LeaseWaiter waiter) {
            engine.waiting.enqueue(waiter);
        }

        static @Nullable LeaseHandle leaseOf(LeaseWaiter waiter) {
            return waiter.isDone() && !waiter.result().isCompletedExceptionally()
                    ? waiter.result().join()
                    : null;
        }
    }

    /** Somebody comes while the holder gives it back. */
    public static class Comes extends Engine {
        private final LeaseHandle held = take();
        private final LeaseWaiter waiter = waiter(REQUEST);

        @Operation
        public void closes() {
            held.close();
        }

        @Operation
        public void comes() {
            enqueue(waiter);
        }

        @Validate
        public void promised() {
            workers.pass(SOON);
            LeaseHandle lease = leaseOf(waiter);
            promise("it is served", lease != null && lease.active());
            promise("by a grant of its own", row.knows(lease.fence()) && lease.fence() != held.fence());
        }
    }

    @Test
    void one_who_comes_while_the_lock_is_given_back_is_served_soon() {
        Race.tryOrders(Comes.class, FEWER);
    }

    /** The one who waits leaves while the holder gives it back. */
    public static class Leaves extends Engine {
        private final LeaseHandle held = take();
        private final LeaseWaiter waiter = waiter(REQUEST);

        public Leaves() {
            enqueue(waiter);
        }

        @Operation
        public void closes() {
            held.close();
        }

        @Operation
        public void leaves() {
            waiter.fail(new LockException(OneRow.JOB, "gone", null));
            engine.waiting.left(waiter);
        }

        @Validate
        public void promised() {
            promise("it is held by the one who has the lease", row.isHeld() == (leaseOf(waiter) != null));
            promise("no queue is left behind", engine.waiting.queueFor(List.of(OneRow.JOB)) == null);
        }
    }

    @Test
    void one_who_leaves_while_the_lock_is_handed_over_has_it_or_it_is_free() {
        Race.tryOrders(Leaves.class, FEWER);
    }

    /** Somebody comes while the instance is closed. */
    public static class ComesWhileClosing extends Engine {
        private final LeaseHandle held = take();
        private final LeaseWaiter waiter = waiter(REQUEST);

        @Operation
        public void closes() {
            engine.close(Deadline.NEVER);
        }

        @Operation
        public void comes() {
            enqueue(waiter);
        }

        @Validate
        public void promised() {
            promise("whoever waits is told", waiter.isDone());
            promise("the lease has ended", !held.active());
            promise("the lock is free", !row.isHeld());
        }
    }

    @Test
    void nobody_waits_in_an_instance_that_is_closed_and_nothing_stays_taken() {
        Race.tryOrders(ComesWhileClosing.class, FEWER);
    }

    /** The lock is taken while the instance is closed. */
    public static class TakenWhileClosing extends Engine {
        private @Nullable LeaseHandle taken;

        @Operation
        public void closes() {
            engine.close(Deadline.NEVER);
        }

        @Operation
        public void takes() {
            try {
                taken = take();
            } catch (IllegalStateException e) {
                // closed, as it says
            }
        }

        @Validate
        public void promised() {
            promise("the lock is free", !row.isHeld());
            promise("nobody has a lease", taken == null || !taken.active());
        }
    }

    @Test
    void lock_that_is_taken_while_the_instance_is_closed_does_not_stay_taken() {
        Race.tryOrders(TakenWhileClosing.class, FEWER);
    }

    /** A lease that nobody sees passes on while the table is told who has the lock. */
    public static class PassesOn extends Engine {
        private final LeaseWaiter first = waiter(REQUEST.asUnseen());
        private final LeaseWaiter second = waiter(REQUEST.asUnseen());
        private final LeaseHandle passing;

        public PassesOn() {
            LeaseHandle held = take();
            enqueue(first);
            enqueue(second);
            held.close();
            passing = leaseOf(first);
        }

        @Operation
        public void closes() {
            passing.close();
        }

        @Operation
        public void timePasses() {
            workers.pass(2 * FenceReserve.LONGEST.toNanos());
        }

        @Validate
        public void promised() {
            workers.pass(SOON);
            LeaseHandle last = leaseOf(second);
            promise("the second has it, by a later fence", last != null && last.fence() > passing.fence());
            promise("which the table knows", row.knows(last.fence()));
        }
    }

    @Test
    void table_is_told_of_a_lock_that_passes_on_while_it_is_settled() {
        Race.tryOrders(PassesOn.class, FEWER);
    }
}
