// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.Wait;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
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
        DataSource source = seen.dataSource();
        Dialect dialect = Dialects.detect(source);
        Tables tables = new Tables(null, "bitjang_");
        Workers mine = new ThreadWorkers(ticker);
        closing(() -> mine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        LeaseEngine made = LeaseEngine.over(
                new Database(source, dialect, ticker),
                tables,
                new SessionStore(ticker, source, source, dialect, tables),
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
}
