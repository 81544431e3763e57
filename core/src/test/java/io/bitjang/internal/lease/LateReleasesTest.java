// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.ObservedSource;
import io.bitjang.OnH2;
import io.bitjang.Wait;
import io.bitjang.admin.LockFilter;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Alarm;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What could not be given back at once costs little, however much it is. */
class LateReleasesTest extends OnH2 {

    private static final int MANY = 50;

    private List<Lease> leases() {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            leases.add(node.lease("many" + i).acquire(Wait.none()));
        }
        return leases;
    }

    private boolean allFree() {
        return other.admin().list(LockFilter.held()).isEmpty();
    }

    @Test
    void releases_that_were_put_off_go_together_in_one_statement() throws Exception {
        List<Lease> leases = leases();
        Gate well = gate();
        Thread test = Thread.currentThread();
        seen.before(sql -> {
            if (Thread.currentThread() == test) {
                throw new SQLException("The database is down", "08006");
            }
            well.pass();
        });

        leases.forEach(Lease::close);
        assertThat(told(Kind.RELEASE_FAILED)).isEqualTo(MANY);
        // the first round may have begun with a few of them
        well.untilReached();
        seen.reset();
        well.close();

        eventually("all are free", this::allFree);
        assertThat(seen.statements()).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void one_round_runs_at_a_time() throws Exception {
        List<Lease> leases = leases();
        Gate hangs = gate();
        Thread test = Thread.currentThread();
        AtomicInteger inside = new AtomicInteger();
        seen.before(sql -> {
            if (Thread.currentThread() == test) {
                throw new SQLException("The database is down", "08006");
            }
            inside.incrementAndGet();
            hangs.pass();
        });

        leases.subList(0, 10).forEach(Lease::close);
        hangs.untilReached();
        for (Lease lease : leases.subList(10, 14)) {
            lease.close();
            // longer than the pause before a round
            TimeUnit.MILLISECONDS.sleep(150);
        }

        assertThat(inside).hasValue(1);
    }

    /** Rounds are run by the test alone, and closing by the thread that closes. */
    private record ByHand(Database database, WorkerDriver threads) implements Driver {

        @Override
        public <R extends @Nullable Object> R run(Plan<R> plan) {
            return plan.run(database);
        }

        @Override
        public void start(Plan<?> plan) {}

        @Override
        public boolean start(String thread, Plan<?> plan) {
            run(plan);
            return true;
        }

        @Override
        public Ticker ticker() {
            return threads.ticker();
        }

        @Override
        public Alarm alarm(Runnable task) {
            return threads.alarm(task);
        }

        @Override
        public @Nullable Future<?> after(long nanos, Runnable task) {
            return threads.after(nanos, task);
        }

        @Override
        public void callBack(Runnable code) {
            threads.callBack(code);
        }

        @Override
        public void complete(Runnable task) {
            threads.complete(task);
        }

        /** Returns how many statements it took. */
        int round(LateReleases late, ObservedSource seen) {
            seen.reset();
            run(late.tryAll());
            return seen.statements().size();
        }
    }

    private final HandTicker ticker = new HandTicker();

    private ByHand byHand() {
        DataSource source = seen.dataSource();
        Workers workers = new ThreadWorkers(ticker);
        closing(() -> workers.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        Database database = new Database(source, Dialects.detect(source), ticker);
        return new ByHand(database, new WorkerDriver(database, workers));
    }

    private LateReleases releases(ByHand driver) {
        LockStore store =
                new LockStore(driver.database.dialect(), new Tables(null, "bitjang_"), ticker, GrantKey::newSecret);
        return new LateReleases(driver, store, freed -> {});
    }

    private static void add(LateReleases late, int number) {
        late.add(List.of(LockName.of("job")), "secret" + number, Limits.micros(Duration.ofDays(3_650)));
    }

    @Test
    void grant_that_may_last_for_years_is_tried_for_an_hour_at_most() {
        ByHand driver = byHand();
        LateReleases late = releases(driver);
        add(late, 1);

        ticker.pass(Duration.ofMinutes(59));
        assertThat(driver.round(late, seen)).isOne();
        ticker.pass(Duration.ofMinutes(2));
        assertThat(driver.round(late, seen)).as("the last time").isOne();

        assertThat(driver.round(late, seen)).isZero();
    }

    @Test
    void no_more_grants_are_remembered_than_ten_thousand() {
        ByHand driver = byHand();
        LateReleases late = releases(driver);

        for (int i = 0; i < 10_500; i++) {
            add(late, i);
        }

        // a thousand each
        assertThat(driver.round(late, seen)).isEqualTo(10);
    }

    /** As each statement of a server may last so long: what is too much for one is not too much for several. */
    @Test
    void batch_that_the_server_cancels_is_released_in_parts() {
        ByHand driver = byHand();
        LateReleases late = releases(driver);
        for (int i = 0; i < 1_000; i++) {
            add(late, i);
        }
        seen.cancelAbove(100);

        // 1 of 1,000, 2 of 500, 4 of 250 and 8 of 125 are cancelled, 16 of 62 or 63 are not
        assertThat(driver.round(late, seen)).isEqualTo(31);
        assertThat(driver.run(late.tryAll())).as("the database answered").isTrue();
    }

    @Test
    void outage_costs_one_statement_however_much_is_to_be_released() {
        ByHand driver = byHand();
        LateReleases late = releases(driver);
        for (int i = 0; i < 5_000; i++) {
            add(late, i);
        }
        down();

        assertThat(driver.round(late, seen)).isOne();
    }

    /** Drains while the database is away for so long after the first failure; returns whether the lock is free then. */
    private boolean isFreeAfterAnOutageOf(Duration outage) throws SQLException {
        ByHand driver = byHand();
        LateReleases late = releases(driver);
        LockName job = LockName.of("job");
        node.lease(job).acquire(Wait.none());
        late.keep(List.of(job), column("lock_id", job), LONG, 0);
        long end = ticker.now() + outage.toNanos();
        seen.before(sql -> {
            if (ticker.now() - end < 0) {
                throw new SQLException("The network is away", "08006");
            }
        });

        late.drain(ticker.in(Duration.ofMinutes(1)));

        seen.up();
        return other.lease(job).tryAcquire().isPresent();
    }

    @Test
    void database_that_is_away_for_a_moment_while_an_instance_is_closed_costs_no_lock() throws Exception {
        assertThat(isFreeAfterAnOutageOf(Duration.ofMillis(450))).isTrue();
    }

    @Test
    void database_that_stays_away_is_given_up_after_half_a_second() throws Exception {
        assertThat(isFreeAfterAnOutageOf(Duration.ofMillis(600))).isFalse();
    }
}
