// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.OnH2;
import io.bitjang.Wait;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.HandTicker;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.ThreadWorkers;
import io.bitjang.internal.work.Workers;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TurnsTest extends OnH2 {

    private static final LockName NAME = LockName.of("a");

    private final HandTicker ticker = new HandTicker();
    private Turns turns;
    private Grant grant;

    @BeforeEach
    void build() {
        DataSource source = seen.dataSource();
        SessionStore store =
                new SessionStore(ticker, source, source, Dialects.detect(source), new Tables(null, "bitjang_"));
        Workers workers = new ThreadWorkers(ticker);
        closing(() -> workers.close(Ticker.SYSTEM.in(Duration.ofSeconds(2))));
        turns = new Turns(workers, released -> {}, 10);
        SessionLink link = store.connect();
        closing(link::close);
        grant = new Grant(link, store.key(NAME));
    }

    private Holding taken() {
        assertThat(turns.begin(NAME)).isEqualTo(Turns.Begin.MINE);
        return Objects.requireNonNull(turns.taken(NAME, grant));
    }

    /** On a thread of its own: this one would wait for itself. */
    private SessionWaiter inLine() throws Exception {
        return start(() -> {
                    SessionWaiter waiter = new SessionWaiter(ticker, NAME, Wait.forever());
                    assertThat(turns.join(waiter)).isFalse();
                    return waiter;
                })
                .result();
    }

    @Test
    void lock_passes_to_the_first_in_line_who_is_still_there() throws Exception {
        Holding holding = taken();
        SessionWaiter gone = inLine();
        SessionWaiter next = inLine();
        gone.fail(new LockException(NAME, "gone", null));

        assertThat(turns.passedOn(holding)).as("nobody has it").isNotNull();
        assertThat(next.isDone()).isTrue();
        assertThat(turns.line(NAME)).isEmpty();
    }

    @Test
    void lock_is_not_passed_on_over_a_session_that_died() throws Exception {
        Holding holding = taken();
        SessionWaiter next = inLine();
        grant.link().die();

        assertThat(turns.passedOn(holding)).isNull();
        assertThat(next.isDone()).isFalse();
        assertThat(turns.granted(NAME, grant)).isNull();
        assertThat(turns.taken(NAME, grant)).isNull();
        assertThat(turns.free(NAME)).as("someone must try again").isTrue();
    }

    @Test
    void lock_is_given_to_the_database_after_a_while_so_that_others_get_their_share() throws Exception {
        Holding holding = taken();
        SessionWaiter next = inLine();
        ticker.pass(Duration.ofMillis(21));

        assertThat(turns.passedOn(holding)).isNull();
        assertThat(next.isDone()).isFalse();
        assertThat(turns.begin(NAME)).isEqualTo(Turns.Begin.TAKEN);
    }

    @Test
    void who_comes_while_it_is_given_back_is_told_to_wait_a_moment() {
        Holding holding = taken();
        assertThat(turns.begin(NAME)).isEqualTo(Turns.Begin.TAKEN);
        turns.passedOn(holding);
        assertThat(turns.begin(NAME)).isEqualTo(Turns.Begin.SOON);
        assertThat(turns.free(NAME)).isFalse();
        assertThat(turns.begin(NAME)).isEqualTo(Turns.Begin.MINE);
    }
}
