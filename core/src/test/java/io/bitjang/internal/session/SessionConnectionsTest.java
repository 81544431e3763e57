// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.OnH2;
import io.bitjang.internal.dialect.Dialect;
import io.bitjang.internal.dialect.Dialects;
import io.bitjang.internal.dialect.SessionDialect;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.SessionLink;
import io.bitjang.internal.sql.SessionStore;
import io.bitjang.internal.sql.Tables;
import io.bitjang.internal.time.Ticker;
import java.lang.reflect.Proxy;
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

    /** As on PostgreSQL, MySQL and MariaDB: a session holds many locks. */
    @Test
    void shared_connection_that_died_makes_no_place_for_one_that_waits() {
        DataSource source = seen.dataSource();
        Dialect h2 = Dialects.detect(source);
        Tables tables = new Tables(null, "bitjang_");
        SessionDialect shares = answering(SessionDialect.class, h2.sessions(tables.sessions()), "shares", true);
        links = new SessionConnections(
                new SessionStore(
                        Ticker.SYSTEM, source, source, answering(Dialect.class, h2, "sessions", shares), tables),
                1,
                () -> {});
        assertThat(links.forWaiting()).isNotNull();
        SessionLink shared = links.forAttempt();
        closing(shared::close);

        // one finds that it died; before it is forgotten, another's attempt on it ends
        shared.die();
        assertThat(links.forAttempt()).isNotSameAs(shared);
        links.unused(shared);
        links.forget(shared);

        assertThat(links.forWaiting()).as("there is one place, and it is taken").isNull();
    }

    private static <T> T answering(Class<T> type, T target, String method, Object answer) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, args) -> {
            if (called.getName().equals(method)) {
                return answer;
            }
            called.setAccessible(true);
            return called.invoke(target, args);
        }));
    }
}
