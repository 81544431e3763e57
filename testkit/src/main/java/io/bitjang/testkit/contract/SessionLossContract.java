// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.testkit.Alone;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** What happens when the session that holds a lock dies: everyone on it is told, and nobody frees what another has by now. */
public abstract class SessionLossContract extends OnObservedLocks {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    /** A promise of one second, with room; a session that is only silent is given up after five. */
    private static final Duration SOON = Duration.ofSeconds(4);

    /** For the databases. */
    protected SessionLossContract() {}

    private void kill() throws Exception {
        try (Connection killer = database.dataSource().getConnection()) {
            database.killSessions(killer);
        }
        // a pool looks at a connection only when it was idle for a while: what it hands out from now on is new
        pool.getHikariPoolMXBean().softEvictConnections();
    }

    @Test
    @Alone("they are told within a second, which a machine that is busy may miss")
    void all_holders_on_a_killed_session_are_told_and_can_close() throws Exception {
        // on H2 each has a connection of its own
        int count = database.name().equals("h2") ? 6 : 100;
        CountDownLatch told = new CountDownLatch(count);
        Set<LockName> names = ConcurrentHashMap.newKeySet();
        List<SessionLock.Hold> holds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            holds.add(node.session(name("many" + i)).acquire(Wait.none()).onLost(hold -> {
                names.add(hold.name());
                told.countDown();
            }));
        }
        long before = System.nanoTime();

        kill();

        assertThat(told.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        System.out.printf(
                "%s: %d holders told %d ms after the kill began%n",
                database.name(), count, (System.nanoTime() - before) / 1_000_000);
        assertThat(names).hasSize(count);
        Crew.eventually("all losses are told to the listener", () -> count(Kind.LOST) == count);
        holds.forEach(hold -> assertThat(hold.isHeld()).isFalse());
        holds.forEach(SessionLock.Hold::close);
        assertThat(node.session(name("many0")).call(PATIENT, () -> "again")).isEqualTo("again");
    }

    @Test
    void nobody_gives_back_what_another_has_taken_since() throws Exception {
        SessionLock.Hold first = node.session(name("a")).acquire(Wait.none());
        kill();
        SessionLock.Hold second = other.session(name("a")).acquire(PATIENT);

        Throwable thrown = catchThrowable(first::close);

        assertThat(thrown)
                .satisfiesAnyOf(t -> assertThat(t).isNull(), t -> assertThat(t).isInstanceOf(NoLockException.class));
        assertThat(second.isHeld()).isTrue();
        assertThat(node.session(name("a")).tryAcquire()).isEmpty();
        second.close();
    }

    @Test
    void closing_what_was_lost_says_so_once() throws Exception {
        SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none());
        kill();
        untilTold(Kind.LOST);

        assertThatThrownBy(hold::close)
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining(name("a"))
                .hasMessageContaining("session died");
        hold.close();
    }

    @Test
    void a_loss_is_suppressed_into_the_body_s_exception() {
        Throwable thrown = catchThrowable(() -> node.session(name("a")).run(PATIENT, () -> {
            kill();
            untilTold(Kind.LOST);
            throw new IllegalArgumentException("the body's own");
        }));

        assertThat(thrown).isInstanceOf(IllegalArgumentException.class).hasMessage("the body's own");
        assertThat(thrown.getSuppressed()).hasSize(1);
        assertThat(thrown.getSuppressed()[0]).isInstanceOf(NoLockException.class);
    }

    @Test
    @Alone("the server ends what is idle for three seconds, which a keep-alive may miss on a machine that is busy")
    void the_server_does_not_end_a_session_that_holds_a_lock_for_being_idle() throws Exception {
        String on = "";
        String off = "";
        if (database.name().equals("postgresql")) {
            on = "ALTER ROLE " + database.user() + " SET idle_session_timeout = '3s'";
            off = "ALTER ROLE " + database.user() + " RESET idle_session_timeout";
        } else if (!database.name().equals("h2")) {
            on = "SET GLOBAL wait_timeout = 3";
            off = "SET GLOBAL wait_timeout = DEFAULT";
        }
        if (!on.isEmpty()) {
            String reset = off;
            AutoCloseable patientAgain = () -> database.execute(reset);
            closing(patientAgain);
            database.execute(on);
        }
        Locks impatient =
                closing(builder().sessionDataSource(database.dataSource()).build());

        try (SessionLock.Hold hold = impatient.session(name("a")).acquire(Wait.none())) {
            TimeUnit.MILLISECONDS.sleep(on.isEmpty() ? 500 : 5000);
            assertThat(hold.isHeld()).isTrue();
            assertThat(other.session(name("a")).tryAcquire()).isEmpty();
        }
    }

    @Test
    void a_grant_that_won_against_the_end_of_its_wait_is_found() throws Exception {
        assertThat(grantedAtTheEndOfItsWait("55P03", 0)).isTrue();
    }

    @Test
    void a_grant_that_won_against_the_cancel_of_its_wait_is_found() throws Exception {
        assertThat(grantedAtTheEndOfItsWait("57014", 0)).isTrue();
    }

    @Test
    void a_grant_whose_answer_could_not_be_read_is_found_after_a_wait() throws Exception {
        assertThat(grantedAtTheEndOfItsWait("HY000", 0)).isTrue();
    }

    @Test
    void a_grant_whose_answer_could_not_be_read_leaves_nothing_on_the_session() throws Exception {
        Predicate<String> attempts = Pattern.compile("pg_try_advisory_lock|GET_LOCK\\(\\?, 0\\)|FOR UPDATE NOWAIT")
                .asPredicate();
        AtomicBoolean failed = new AtomicBoolean();
        // what is asked of a new session is asked before
        node.session(name("b")).run(Wait.none(), () -> {});
        seen.afterStatement(sql -> {
            if (attempts.test(sql) && failed.compareAndSet(false, true)) {
                throw new SQLException("A wrapper could not count it", "HY000");
            }
        });

        try {
            node.session(name("a")).tryRun(() -> {});
        } catch (LockingFailException e) {
            // told, and not granted
        }

        assertThat(failed).isTrue();
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void a_grant_that_won_is_found_although_the_cancel_of_its_wait_comes_late() throws Exception {
        assertThat(grantedAtTheEndOfItsWait("55P03", 2)).isTrue();
    }

    @Test
    void a_session_of_which_nobody_knows_what_it_holds_keeps_nothing() throws Exception {
        assertThat(grantedAtTheEndOfItsWait("55P03", 50)).isTrue();
    }

    /** The server grants, and the answer says that the wait is over; so many looks at what the session holds are cancelled. */
    private boolean grantedAtTheEndOfItsWait(String state, int lateCancels) throws Exception {
        SessionLock.Hold held = other.session(name("a")).acquire(Wait.none());
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicBoolean timedOut = new AtomicBoolean();
        AtomicInteger cancels = new AtomicInteger(lateCancels);
        Predicate<String> waits = Pattern.compile("pg_advisory_lock|GET_LOCK\\(\\?, \\?\\)|WAIT 1")
                .asPredicate();
        Predicate<String> looks = Pattern.compile("pg_locks|IS_USED_LOCK").asPredicate();
        seen.onStatement(sql -> {
            if (waits.test(sql)) {
                waiting.countDown();
            }
            if (looks.test(sql) && cancels.getAndDecrement() > 0) {
                throw new SQLException("The statement was cancelled", "57014");
            }
        });
        seen.afterStatement(sql -> {
            if (waits.test(sql) && timedOut.compareAndSet(false, true)) {
                throw new SQLException("The wait is over", state);
            }
        });
        Crew.Job<Boolean> waiter = crew.start(() -> node.session(name("a")).call(PATIENT, () -> true));
        waiting.await();

        held.close();

        boolean granted = waiter.result();
        assertThat(timedOut).isTrue();
        assertThat(other.session(name("a")).call(PATIENT, () -> "free again")).isEqualTo("free again");
        return granted;
    }

    @Test
    @Alone("it is told within a second, which a busy machine may need for itself")
    void a_connection_that_its_pool_has_closed_is_a_loss() throws Exception {
        List<Connection> given = new CopyOnWriteArrayList<>();
        DataSource lender = new PlainSource() {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = database.dataSource().getConnection();
                given.add(connection);
                return connection;
            }
        };
        Locks borrower = closing(builder().sessionDataSource(lender).build());
        CountDownLatch told = new CountDownLatch(1);
        SessionLock.Hold hold = borrower.session(name("a")).acquire(Wait.none()).onLost(lost -> told.countDown());

        for (Connection connection : given) {
            connection.close();
        }

        assertThat(told.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        hold.close();
        assertThat(borrower.session(name("a")).call(PATIENT, () -> "again")).isEqualTo("again");
    }

    /** The listener hears of it before the name is free here, and takes its time. */
    @Test
    void who_was_told_of_a_loss_may_ask_again_at_once() throws Exception {
        Locks slow = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.LOST) {
                        LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
                    }
                })
                .build());
        CountDownLatch told = new CountDownLatch(1);
        SessionLock.Hold hold = slow.session(name("a")).acquire(Wait.none()).onLost(lost -> told.countDown());

        kill();

        assertThat(told.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        hold.close();
        assertThat(slow.session(name("a")).call(PATIENT, () -> "again")).isEqualTo("again");
    }

    @Test
    void a_session_that_died_while_nothing_was_on_it_is_replaced() throws Exception {
        node.session(name("a")).run(Wait.none(), () -> {});
        kill();

        assertThat(node.session(name("a")).tryRun(() -> {})).isTrue();
    }
}
