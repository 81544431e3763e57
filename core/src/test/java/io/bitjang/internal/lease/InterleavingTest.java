// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Threads that stand still between two lines of the engine: there where it reads a clock. */
class InterleavingTest extends OnEngine {

    /** The system's clocks; something happens before one of them is read for the first time at a given place. */
    private static final class Interrupted implements Ticker {

        private final AtomicBoolean reached = new AtomicBoolean();
        private volatile String place = "";
        private volatile Runnable happens = () -> {};

        void at(String method, Runnable what) {
            happens = what;
            place = method;
        }

        private void pass() {
            if (!place.isEmpty() && isIn(place) && reached.compareAndSet(false, true)) {
                happens.run();
            }
        }

        private static boolean isIn(String place) {
            return Arrays.stream(Thread.currentThread().getStackTrace())
                    .anyMatch(frame -> (frame.getClassName() + "." + frame.getMethodName()).endsWith(place));
        }

        @Override
        public long now() {
            pass();
            return SYSTEM.now();
        }

        @Override
        public long wallMillis() {
            pass();
            return SYSTEM.wallMillis();
        }

        @Override
        public void park(long nanos) {
            SYSTEM.park(nanos);
        }

        @Override
        public boolean sleep(long nanos) {
            return SYSTEM.sleep(nanos);
        }

        @Override
        public long random(long below) {
            return SYSTEM.random(below);
        }
    }

    private final Interrupted ticker = new Interrupted();

    private LeaseEngine interruptedEngine() {
        return engine(ticker);
    }

    private LeaseEngine engine(Ticker clock) {
        DataSource source = seen.dataSource();
        Dialect dialect = Dialects.detect(source);
        Tables tables = new Tables(null, "bitjang_");
        Workers mine = new ThreadWorkers(clock);
        closing(() -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        LeaseEngine made = LeaseEngine.over(
                new Database(source, dialect, clock),
                tables,
                new SessionStore(clock, source, source, dialect, tables),
                new Settings("node", LONG, LONG, false, true),
                mine,
                new Events(List.of(events::add)));
        closing(() -> made.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        return made;
    }

    @Test
    void nobody_gets_a_lease_that_closing_has_given_back() {
        LeaseEngine mine = interruptedEngine();
        // the lease is there, but whoever has got it has not looked yet whether the instance is open
        ticker.at("Renewer.add", () -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        AtomicBoolean ran = new AtomicBoolean();

        try {
            new NamedLease(mine, List.of(JOB)).tryRun(() -> ran.set(true));
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("closed");
        }

        assertThat(ticker.reached).isTrue();
        assertThat(ran).as("the task began without the lock").isFalse();
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void table_is_told_who_has_a_lock_that_passed_on_late() throws Exception {
        LeaseEngine mine = interruptedEngine();
        Gate end = gate();
        // longer than it takes until the table is told, twice
        ticker.at(
                "Grants.passedOn",
                () -> Ticker.SYSTEM.sleep(Duration.ofMillis(400).toNanos()));
        NamedLease job = new NamedLease(mine, List.of(JOB));
        Lease held = other.lease(JOB).acquire(Wait.none());
        for (int i = 0; i < 12; i++) {
            start(() -> {
                        job.run(PATIENT, () -> {
                            if (ticker.reached.get()) {
                                end.pass();
                            }
                        });
                        return true;
                    })
                    .untilItWaits();
        }

        held.close();

        end.untilReached();
        eventually("told", () -> "0".equals(column("reserved", JOB)));
    }

    /** A name; something happens when it is compared with that of the lease that is held here. */
    private static final class Compared extends AbstractList<LockName> {

        private final List<LockName> names = List.of(JOB);
        private final AtomicBoolean reached = new AtomicBoolean();
        private final Runnable happens;

        Compared(Runnable happens) {
            this.happens = happens;
        }

        @Override
        public LockName get(int index) {
            if (Interrupted.isIn("HeldLeases.holds") && Interrupted.isIn("WaitQueues.enqueue")) {
                // the first is asked for before the comparison
                happens();
            }
            return names.get(index);
        }

        private void happens() {
            boolean compares = Arrays.stream(Thread.currentThread().getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("equals"));
            if (compares && reached.compareAndSet(false, true)) {
                happens.run();
            }
        }

        @Override
        public int size() {
            return names.size();
        }
    }

    @Test
    void one_who_comes_while_a_lease_of_its_own_process_is_lost_looks_at_the_table_soon() throws Exception {
        HandTicker still = new HandTicker();
        LeaseEngine mine = engine(still);
        LeaseHandle held = (LeaseHandle) new NamedLease(mine, List.of(JOB)).acquire(Wait.none());
        Compared names = new Compared(() -> {
            node.admin().forceRelease(JOB, held.fence(), "ops", "why");
            other.lease(JOB).acquire(Wait.none());
            held.lose(Gone.lost("it was taken"));
            // which is noticed here: somebody else has it, for long
            untilLookedAt(mine);
        });

        start(() -> mine.acquire(names, request(), PATIENT));

        eventually("the holder here is looked for", names.reached::get);
        eventually("it waits no second for a lease that is gone", () -> {
            WaitQueue queue = mine.waiting.queueFor(List.of(JOB));
            return queue != null
                    && queue.looks() > 1
                    && queue.nextPoll() != Long.MAX_VALUE
                    && queue.nextPoll() - still.now() < Duration.ofMillis(500).toNanos();
        });
    }

    @Test
    void one_who_comes_later_puts_off_no_look_and_brings_one_forward_only_if_nobody_knows_who_has_it() {
        HandTicker still = new HandTicker();
        LeaseEngine mine = engine(still);
        new NamedLease(mine, List.of(JOB)).acquire(Wait.none());
        LeaseWaiter first = waiting(mine, still, Duration.ofMillis(1500));
        WaitQueue queue = Objects.requireNonNull(mine.waiting.queueFor(List.of(JOB)));

        waiting(mine, still, Duration.ofSeconds(30));
        assertThat(queue.nextPoll() - still.now())
                .isEqualTo(Duration.ofMillis(750).toNanos());
        waiting(mine, still, Duration.ofMillis(500));
        assertThat(queue.nextPoll() - still.now())
                .isEqualTo(Duration.ofMillis(250).toNanos());

        first.refused(node.admin().find(JOB).orElseThrow());
        LeaseWaiter brief = waiting(mine, still, Duration.ofMillis(2));
        assertThat(queue.nextPoll() - still.now())
                .isEqualTo(Duration.ofMillis(250).toNanos());
        assertThat(brief.timedOut()).hasMessageContaining("node");
    }

    /** Nobody waits for its result, so that its time does not end. */
    private static LeaseWaiter waiting(LeaseEngine engine, Ticker clock, Duration time) {
        LeaseWaiter waiter = new LeaseWaiter(clock, List.of(JOB), request(), Wait.upTo(time));
        engine.waiting.enqueue(waiter);
        return waiter;
    }

    private static void untilLookedAt(LeaseEngine engine) {
        try {
            eventually("an attempt was refused", () -> {
                WaitQueue queue = engine.waiting.queueFor(List.of(JOB));
                return queue != null && queue.looks() > 0 && queue.nextPoll() != Long.MAX_VALUE;
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
