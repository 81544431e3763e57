// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.OnH2;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Events;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;

/** An engine on H2 whose leases began in the past, so that nobody waits for their time to come. */
abstract class OnEngine extends OnH2 {

    static final LockName JOB = LockName.of("job");
    static final Duration THIRD = LONG.dividedBy(3);

    LeaseEngine engine;
    Workers workers;

    @BeforeEach
    void build() {
        DataSource source = seen.dataSource();
        Database database = new Database(source, Dialects.detect(source), Ticker.SYSTEM);
        Tables tables = new Tables(null, "bitjang_");
        workers = workers();
        closing(() -> workers.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        engine = LeaseEngine.over(
                database,
                tables,
                new SessionStore(Ticker.SYSTEM, source, source, database.dialect(), tables),
                new Settings("node", LONG, LONG, false, true),
                workers,
                new Events(List.of(events::add)));
        closing(() -> engine.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        closing(seen::up);
        seen.reset();
    }

    /** The threads of the engine. */
    Workers workers() {
        return new ThreadWorkers(Ticker.SYSTEM);
    }

    static Request request() {
        return Request.of("node", LONG, null);
    }

    /** A grant of the database's, so long ago. */
    Grants.Outcome taken(LockName name, Request request, Duration ago) throws SQLException {
        Grants.Outcome outcome = engine.run(engine.grants.attempt(List.of(name), request, 0));
        assertThat(outcome.answer().granted()).isTrue();
        set("expires_at = expires_at - " + Limits.micros(ago), name);
        return outcome;
    }

    /** A lease for it. */
    LeaseHandle granted(LockName name, Request request, Grants.Outcome outcome, Duration ago) {
        return engine.run(
                engine.grants.granted(List.of(name), request, new Grants.Outcome(outcome.answer(), ago(ago))));
    }

    static Clocks ago(Duration ago) {
        Clocks now = Ticker.SYSTEM.clocks();
        return new Clocks(now.ticks() - ago.toNanos(), now.wall() - ago.toMillis());
    }

    LeaseHandle leaseOf(LockName name, Request request, Duration ago) throws SQLException {
        return granted(name, request, taken(name, request, ago), ago);
    }

    /** It is to be renewed at once. */
    LeaseHandle due(LockName name) throws SQLException {
        return leaseOf(name, request(), THIRD);
    }

    void untilTold(Kind kind) throws Exception {
        eventually("told " + kind, () -> told(kind) > 0);
    }
}
