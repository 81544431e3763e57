// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.OnH2;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Ticker;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that wait for a lock have few places. */
class SessionConnectionsTest extends OnH2 {

    private SessionConnections links;

    @BeforeEach
    void build() {
        DataSource source = seen.dataSource();
        SessionStore store =
                new SessionStore(Ticker.SYSTEM, source, source, Dialects.detect(source), new Tables(null, "bitjang_"));
        links = new SessionConnections(store, 1, () -> {});
        closing(() -> links.all().forEach(link -> {
            links.forget(link);
            link.close();
        }));
        closing(seen::up);
    }

    @Test
    void there_are_no_more_connections_that_wait_than_places() {
        assertThat(links.forWaiting()).isNotNull();
        assertThat(links.forWaiting()).isNull();
    }

    @Test
    void connection_that_can_not_be_opened_frees_its_place() {
        down();
        assertThatThrownBy(() -> links.forWaiting()).isInstanceOf(DatabaseException.class);
        seen.up();

        assertThat(links.all()).isEmpty();
        assertThat(links.forWaiting()).isNotNull();
    }

    /** Whoever watches over it gives it up while it is asked for the first time. */
    @Test
    void connection_that_dies_while_it_is_opened_frees_its_place() {
        seen.before(sql -> links.all().forEach(link -> {
            closing(link::close);
            links.forget(link);
        }));
        assertThat(links.forWaiting()).as("a connection that is dead").isNull();
        seen.up();

        assertThat(links.forWaiting()).isNotNull();
        assertThat(links.forWaiting()).as("its place was freed twice").isNull();
    }
}
