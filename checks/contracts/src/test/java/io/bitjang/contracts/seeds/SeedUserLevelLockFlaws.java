// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The user-level lock: the document's, and Bitjang's. (H2 has none that the document's could use.) */
public abstract class SeedUserLevelLockFlaws extends CardExperiment {

    private SeedUserLevelLock seed(HikariDataSource source) {
        return new SeedUserLevelLock(source, database.name());
    }

    // the lock is taken on one pooled connection and released on another

    @Test
    void seed_template_lets_two_in_at_once_when_they_get_the_same_connection() {
        SeedUserLevelLock seed = seed(closing(database.pool(1)));

        boolean both =
                seed.executeWithTemplate(name("user"), 0, () -> seed.executeWithTemplate(name("user"), 0, () -> true));

        assertThat(both).isTrue();
    }

    @Test
    void seed_template_leaves_the_lock_behind_when_it_gets_another_connection() throws Exception {
        HikariDataSource two = closing(database.pool(2));
        SeedUserLevelLock seed = seed(two);
        List<Connection> borrowed = new ArrayList<>();

        seed.executeWithTemplate(name("user"), 0, () -> {
            try {
                // the first that is free is the one that took the lock: another request has it now
                borrowed.add(two.getConnection());
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return true;
        });

        try (Connection stranger = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> seed.getLock(stranger, name("user"), 0)).hasMessageContaining("GetLock");
        }
        borrowed.get(0).close();
    }

    @Test
    void seed_template_breaks_the_limit_or_leaves_the_lock_behind_in_the_experiment() throws Exception {
        SeedUserLevelLock seed = seed(closing(database.pool(5)));
        boolean broken = false;
        for (int user = 1; user <= 20 && !broken; user++) {
            int id = user;
            String lock = name("user:" + user);
            request(number -> {
                try {
                    return seed.executeWithTemplate(lock, 1, () -> addCard(pool, id, number, () -> 0));
                } catch (IllegalStateException e) {
                    return false;
                }
            });
            broken = cardsOf(user) > MOST || isLeftBehind(seed, lock);
        }
        assertThat(broken).isTrue();
    }

    private boolean isLeftBehind(SeedUserLevelLock seed, String lock) throws SQLException {
        try (Connection stranger = database.dataSource().getConnection()) {
            return catchThrowable(() -> seed.getLock(stranger, lock, 0)) != null;
        }
    }

    // RELEASE_LOCK runs although GET_LOCK failed, and its exception hides the first

    @Test
    void seed_hides_the_reason_behind_the_failure_of_a_release() {
        HikariDataSource two = closing(database.pool(2));
        SeedUserLevelLock seed = seed(two);

        Throwable thrown = seed.executeWithLock(
                name("user"), 0, () -> catchThrowable(() -> seed.executeWithLock(name("user"), 0, () -> "never")));

        assertThat(thrown).hasMessageContaining("ReleaseLock").hasNoSuppressedExceptions();
    }

    @Test
    void bitjang_says_why_and_releases_only_what_was_taken() {
        Throwable thrown = locks.session(name("user"))
                .executeWithLock(
                        Duration.ofSeconds(30),
                        () -> catchThrowable(() ->
                                other.session(name("user")).executeWithLock(Duration.ofSeconds(5), () -> "never")));

        assertThat(thrown).isInstanceOf(AlreadyLockedException.class).hasNoSuppressedExceptions();
        assertThat(other.session(name("user")).tryRun(() -> {})).isTrue();
    }

    @Test
    void bitjang_says_so_when_the_session_does_not_have_the_lock_that_is_given_back() throws Exception {
        Connection session = closing(database.dataSource().getConnection());
        Locks node = closing(
                Locks.builder(pool).sessionDataSource(handingOut(session)).build());
        // once before, because the connections that are tried at first are several
        node.session(name("warm")).run(Wait.none(), () -> {});
        SessionLock.Hold hold = node.session(name("user")).acquire(Wait.none());
        try (Statement behindItsBack = session.createStatement()) {
            behindItsBack.execute(
                    database.name().equals("postgresql")
                            ? "SELECT pg_advisory_unlock_all()"
                            : "SELECT RELEASE_ALL_LOCKS()");
        }

        other.session(name("user"))
                .run(Wait.none(), () -> assertThatThrownBy(hold::close).isInstanceOf(NoLockException.class));
    }

    /** The first connection is the given one. */
    private DataSource handingOut(Connection first) {
        AtomicBoolean handedOut = new AtomicBoolean();
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> handedOut.compareAndSet(false, true)
                        ? first
                        : database.dataSource().getConnection());
    }

    // a pooled connection is pinned for every lock that is held

    @Test
    void seed_empties_the_pool_with_as_many_locks_as_it_has_connections() {
        HikariDataSource three = closing(database.pool(3));
        SeedUserLevelLock seed = seed(three);

        Throwable thrown = seed.executeWithLock(
                name("1"),
                0,
                () -> seed.executeWithLock(
                        name("2"),
                        0,
                        () -> seed.executeWithLock(name("3"), 0, () -> catchThrowable(three::getConnection))));

        assertThat(thrown).isInstanceOf(SQLTransientConnectionException.class);
    }

    @Test
    void bitjang_holds_twenty_locks_and_leaves_the_pool_to_the_business() throws Exception {
        HikariDataSource three = closing(database.pool(3));
        Locks node = closing(Locks.create(three));
        List<SessionLock.Hold> holds = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            holds.add(node.session(name("" + i)).acquire(Wait.none()));
        }

        try (Connection one = three.getConnection();
                Connection another = three.getConnection()) {
            assertThat(List.of(one, another)).doesNotContainNull();
        }
        holds.forEach(SessionLock.Hold::close);
    }
}
