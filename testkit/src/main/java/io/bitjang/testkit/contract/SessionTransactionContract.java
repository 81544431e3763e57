// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A session lock that is held for a transaction of the caller's, on its own connection. */
public abstract class SessionTransactionContract extends OnAccounts {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    /** For the databases. */
    protected SessionTransactionContract() {}

    private SessionLock lock(String text) {
        return locks.session(name(text));
    }

    @Test
    void it_is_held_until_the_transaction_has_committed() throws Exception {
        Connection connection = transaction();

        String result = lock("a").callInTransaction(connection, PATIENT, () -> {
            assertThat(other.session(name("a")).tryAcquire()).isEmpty();
            write(connection, 7);
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(balance()).isEqualTo(7);
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
        assertThat(connection.getAutoCommit()).isFalse();
    }

    @Test
    void a_body_that_fails_rolls_back_and_frees_the_lock() throws Exception {
        Connection connection = transaction();
        int before = balance();

        assertThatThrownBy(() -> lock("a").callInTransaction(connection, PATIENT, () -> {
                    write(connection, before + 5);
                    throw new IOException("the body's own");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the body's own");

        assertThat(balance()).isEqualTo(before);
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void an_answer_that_is_lost_leaves_no_lock_on_the_callers_session() throws Exception {
        CountingDataSource source = new CountingDataSource(database.dataSource());
        Connection connection = closing(source.getConnection());
        connection.setAutoCommit(false);
        // asks what the server is, so that the next statement is the one that takes the lock
        lock("b").callInTransaction(connection, PATIENT, () -> "known");
        AtomicBoolean lost = new AtomicBoolean();
        source.afterStatement(sql -> {
            if (lost.compareAndSet(false, true)) {
                throw new SQLException("The answer is lost", "08006");
            }
        });

        assertThatThrownBy(() -> lock("a").callInTransaction(connection, PATIENT, () -> "never"))
                .isInstanceOf(LockException.class);

        // as a pool does with a connection that comes back
        if (!connection.isClosed()) {
            connection.rollback();
        }
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void two_transactions_wait_for_each_other_and_none_is_lost() throws Exception {
        int threads = 6;
        int rounds = 5;
        int before = balance();
        CountDownLatch start = new CountDownLatch(1);
        try (Crew crew = new Crew()) {
            List<Crew.Job<Integer>> jobs = new java.util.ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Connection connection = transaction();
                jobs.add(crew.start(() -> {
                    start.await();
                    for (int round = 0; round < rounds; round++) {
                        lock("a").callInTransaction(connection, PATIENT, () -> {
                            write(connection, balance(connection) + 1);
                            return "added";
                        });
                    }
                    return rounds;
                }));
            }
            start.countDown();
            for (Crew.Job<Integer> job : jobs) {
                assertThat(job.result()).isEqualTo(rounds);
            }
        }
        assertThat(balance()).isEqualTo(before + threads * rounds);
    }

    @Test
    void whoever_is_refused_keeps_its_transaction() throws Exception {
        Connection connection = transaction();
        write(connection, 3);
        try (SessionLock.Hold hold = other.session(name("a")).acquire(Wait.none())) {
            assertThatThrownBy(() ->
                            lock("a").callInTransaction(connection, Wait.upTo(Duration.ofMillis(100)), () -> "never"))
                    .isInstanceOf(AlreadyLockedException.class);
        }
        connection.commit();
        assertThat(balance()).isEqualTo(3);
    }

    @Test
    void two_transactions_that_wait_for_each_other_end_and_one_of_them_gets_both() throws Exception {
        CountDownLatch bothHeld = new CountDownLatch(2);
        Connection one = transaction();
        Connection two = transaction();
        try (Crew crew = new Crew()) {
            Crew.Job<String> first = crew.start(() -> crosswise(one, "a", "b", bothHeld));
            Crew.Job<String> second = crew.start(() -> crosswise(two, "b", "a", bothHeld));

            List<String> outcomes = List.of(first.result(), second.result());

            // only some servers see such a circle; elsewhere the wait of one ends, or of both
            assertThat(outcomes).contains("gave up").containsAnyOf("both", "gave up");
        }
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
        assertThat(other.session(name("b")).tryRun(() -> {})).isTrue();
    }

    private String crosswise(Connection connection, String outer, String inner, CountDownLatch bothHeld)
            throws Exception {
        // where the server sees the circle, nobody gives up before that
        boolean seen = database.name().matches("mysql|mariadb");
        Wait wait = Wait.upTo(Duration.ofSeconds(outer.equals("a") && !seen ? 2 : 20));
        try {
            return lock(outer).callInTransaction(connection, wait, () -> {
                bothHeld.countDown();
                bothHeld.await();
                return lock(inner).callInTransaction(connection, wait, () -> "both");
            });
        } catch (LockDeadlockException | AlreadyLockedException e) {
            boolean seenByTheServer = e instanceof LockDeadlockException;
            assertThat(seenByTheServer).isEqualTo(database.name().matches("mysql|mariadb"));
            return "gave up";
        }
    }

    @Test
    void a_call_inside_another_joins_its_transaction_and_the_outermost_commits() throws Exception {
        Connection connection = transaction();
        int before = balance();

        lock("a").callInTransaction(connection, PATIENT, () -> {
            lock("b").callInTransaction(connection, PATIENT, () -> {
                lock("a").callInTransaction(connection, PATIENT, () -> "once more");
                write(connection, before + 1);
                return "inner";
            });
            assertThat(other.session(name("a")).tryAcquire()).isEmpty();
            assertThat(other.session(name("b")).tryAcquire()).isEmpty();
            assertThat(balance()).isEqualTo(before);
            return "outer";
        });

        assertThat(balance()).isEqualTo(before + 1);
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
        assertThat(other.session(name("b")).tryRun(() -> {})).isTrue();
    }

    @Test
    void what_an_inner_call_left_half_done_is_not_committed_though_its_exception_was_caught() throws Exception {
        Connection connection = transaction();
        int before = balance();

        assertThatThrownBy(() -> lock("a").callInTransaction(connection, PATIENT, () -> {
                    assertThatThrownBy(() -> lock("b").callInTransaction(connection, PATIENT, () -> {
                                write(connection, before + 5);
                                throw new IOException("half done");
                            }))
                            .isInstanceOf(IOException.class);
                    return "as if nothing had happened";
                }))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("half done")
                .hasCauseInstanceOf(IOException.class);

        assertThat(balance()).isEqualTo(before);
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
        assertThat(other.session(name("b")).tryRun(() -> {})).isTrue();
    }

    @Test
    void whoever_is_refused_inside_a_transaction_keeps_it() throws Exception {
        Connection connection = transaction();
        try (SessionLock.Hold hold = other.session(name("b")).acquire(Wait.none())) {
            lock("a").callInTransaction(connection, PATIENT, () -> {
                assertThatThrownBy(() -> lock("b").callInTransaction(connection, Wait.none(), () -> "never"))
                        .isInstanceOf(AlreadyLockedException.class);
                write(connection, 9);
                return "done";
            });
        }
        assertThat(balance()).isEqualTo(9);
    }

    @Test
    void what_is_committed_stays_so_when_the_lock_can_t_be_given_back_and_the_lock_is_free_all_the_same()
            throws Exception {
        CountingDataSource failing = new CountingDataSource(database.dataSource());
        Connection connection = closing(failing.getConnection());
        connection.setAutoCommit(false);
        failing.onStatement(sql -> {
            if (sql.matches(".*(RELEASE_LOCK|pg_advisory_unlock).*")) {
                throw new SQLException("The network is gone", "08006");
            }
        });

        String result = lock("a").callInTransaction(connection, PATIENT, () -> {
            write(connection, 11);
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(balance()).isEqualTo(11);
        // elsewhere the database frees it with the commit, and nothing could fail after that
        assertThat(connection.isClosed()).isEqualTo(database.name().matches("mysql|mariadb"));
        assertThat(other.session(name("a")).call(PATIENT, () -> "free")).isEqualTo("free");
    }

    @Test
    void a_transaction_that_would_not_see_what_was_committed_meanwhile_is_refused() throws Exception {
        Connection connection = transaction(Connection.TRANSACTION_REPEATABLE_READ);
        if (database.name().matches("postgresql|h2")) {
            assertThatThrownBy(() -> lock("a").callInTransaction(connection, PATIENT, () -> "never"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("READ COMMITTED");
        } else {
            try (Crew crew = new Crew()) {
                SessionLock.Hold hold = other.session(name("a")).acquire(Wait.none());
                Crew.Job<Integer> reader =
                        crew.start(() -> lock("a").callInTransaction(connection, PATIENT, () -> balance(connection)));
                write(5);
                hold.close();
                assertThat(reader.result()).isEqualTo(5);
            }
        }
    }

    @Test
    void an_interrupt_ends_the_wait_and_is_kept() throws Exception {
        Connection connection = transaction();
        try (Crew crew = new Crew();
                SessionLock.Hold hold = other.session(name("a")).acquire(Wait.none())) {
            CountDownLatch started = new CountDownLatch(1);
            Crew.Job<Boolean> waiter = crew.start(() -> {
                started.countDown();
                assertThatThrownBy(() -> lock("a").callInTransaction(connection, Wait.forever(), () -> "never"))
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("Interrupted");
                return Thread.currentThread().isInterrupted();
            });
            started.await();
            waiter.interrupt();
            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void a_connection_that_breaks_in_the_body_does_not_hide_the_body_s_exception() throws Exception {
        Connection connection = database.dataSource().getConnection();
        connection.setAutoCommit(false);

        assertThatThrownBy(() -> lock("a").callInTransaction(connection, PATIENT, () -> {
                    connection.close();
                    throw new IOException("the body's own");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the body's own");

        assertThat(other.session(name("a")).call(PATIENT, () -> "free")).isEqualTo("free");
    }

    @Test
    void a_connection_that_commits_by_itself_is_refused() throws Exception {
        try (Connection connection = pool.getConnection()) {
            assertThatThrownBy(() -> lock("a").callInTransaction(connection, PATIENT, () -> "never"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("auto-commit");
        }
    }
}
