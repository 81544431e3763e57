// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What ends a guard before the transaction ends: a part that is rolled back, an implicit commit, a deadlock. A second guard, just
 * before the commit, finds out whether another got the lock in between, because a lock id never returns.
 */
public abstract class GuardAgainContract extends OnAccounts {

    private static final Duration SHORT = Duration.ofMillis(150);

    /** For the databases' test classes. */
    protected GuardAgainContract() {}

    private LockId hold(Duration duration) {
        return locks.manager().tryLock(account.type(), account.id(), "kim", duration);
    }

    private void takenByAnother() throws Exception {
        awaitLapse(account);
        other.manager().tryLock(account.type(), account.id(), "lee");
    }

    private void refusedToOthers() throws Exception {
        awaitLapse(account);
        assertThatThrownBy(() -> other.manager().tryLock(account.type(), account.id(), "lee"))
                .isInstanceOf(AlreadyLockedException.class);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void guard_that_was_rolled_back_to_a_savepoint_is_gone_and_the_second_guard_refuses() throws Exception {
        LockId id = hold(SHORT);
        Connection tx = transaction();
        Savepoint before = tx.setSavepoint();
        locks.manager().checkLock(tx, id);
        tx.rollback(before);

        takenByAnother();
        write(tx, 66);

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(NoLockException.class);
        tx.commit();
        assertThat(balance()).isZero();
    }

    /** MySQL and MariaDB wait for the row, and may give up before they know whose it is; the others see that at once. */
    @Test
    void guard_that_meets_the_next_holders_guard_lets_even_a_careless_commit_write_nothing() throws Exception {
        LockId id = hold(SHORT);
        Connection tx = transaction();
        switch (database.name()) {
            case "mysql", "mariadb" -> execute(tx, "SET SESSION innodb_lock_wait_timeout = 1");
            case "h2" -> execute(tx, "SET LOCK_TIMEOUT 100");
            default -> execute(tx, "SET lock_timeout = 100");
        }
        awaitLapse(account);
        LockId next = other.manager().tryLock(account.type(), account.id(), "lee");
        Connection theirs = transaction();
        other.manager().checkLock(theirs, next);
        write(tx, 66);

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(LockException.class);
        tx.commit();

        theirs.commit();
        assertThat(balance()).isZero();
    }

    @Test
    void lease_whose_guard_was_rolled_back_to_a_savepoint_refuses_the_second_guard() throws Exception {
        Lease lease = locks.lease(account).acquire(Wait.none());
        Connection tx = transaction();
        Savepoint before = tx.setSavepoint();
        lease.guard(tx);
        tx.rollback(before);

        assertThat(other.admin().forceRelease(account, lease.fence(), "ops", "in the way"))
                .isTrue();
        write(tx, 66);

        assertThatThrownBy(() -> lease.guard(tx)).isInstanceOf(NoLockException.class);
        tx.commit();
        assertThat(balance()).isZero();
    }

    @Test
    void guard_before_the_savepoint_stays() throws Exception {
        LockId id = hold(SHORT);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        Savepoint after = tx.setSavepoint();
        write(tx, 66);
        tx.rollback(after);

        refusedToOthers();
        write(tx, 100);
        locks.manager().checkLock(tx, id);
        tx.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void second_guard_of_a_lock_that_nobody_took_passes_and_holds_until_the_commit() throws Exception {
        LockId id = hold(SHORT);
        Connection tx = transaction();
        Savepoint before = tx.setSavepoint();
        locks.manager().checkLock(tx, id);
        tx.rollback(before);
        write(tx, 100);

        locks.manager().checkLock(tx, id);
        refusedToOthers();
        tx.commit();
        assertThat(balance()).isEqualTo(100);
    }

    /** On MySQL, MariaDB and H2 a change of the schema commits what was before it, and the guard ends with that. */
    @Test
    void guard_ends_where_a_change_of_the_schema_commits_and_the_second_guard_refuses() throws Exception {
        LockId id = hold(SHORT);
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        write(tx, 100);
        execute(tx, "CREATE TABLE " + prefix() + "ddl (id INT)");
        closing((AutoCloseable) () -> database.execute("DROP TABLE IF EXISTS " + prefix() + "ddl"));

        if (database.name().equals("postgresql")) {
            refusedToOthers();
            locks.manager().checkLock(tx, id);
            tx.commit();
        } else {
            takenByAnother();
            write(tx, 66);
            assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(NoLockException.class);
            tx.commit();
        }
        assertThat(balance()).isEqualTo(100);
    }

    /** On MySQL, MariaDB and H2 the victim of a deadlock may go on, in a transaction that has lost what it did, the guard included. */
    @Test
    @Timeout(60)
    void victim_of_a_deadlock_that_repeats_its_statement_is_refused_by_the_second_guard() throws Exception {
        String big = prefix() + "big";
        database.execute("CREATE TABLE " + big + " (id INT PRIMARY KEY, balance INT NOT NULL)");
        closing((AutoCloseable) () -> database.execute("DROP TABLE " + big));
        database.execute("INSERT INTO " + big + " VALUES (1, 0)");
        LockId id = hold(SHORT);
        Connection rival = transaction();
        // the victim is the one that has changed less or, on H2, the one that has begun last
        execute(
                rival,
                "INSERT INTO " + big + " VALUES "
                        + IntStream.range(10, 200)
                                .mapToObj(n -> "(" + n + ", 0)")
                                .collect(Collectors.joining(", ")));
        execute(rival, "UPDATE " + big + " SET balance = 1 WHERE id = 1");
        Connection tx = transaction();
        locks.manager().checkLock(tx, id);
        write(tx, 66);
        CompletableFuture<Throwable> rivals = CompletableFuture.supplyAsync(() -> catchThrowable(() -> {
            execute(rival, "UPDATE " + accounts + " SET balance = 7 WHERE id = 1");
        }));

        String crosswise = "UPDATE " + big + " SET balance = 2 WHERE id = 1";
        Throwable deadlock = catchThrowable(() -> execute(tx, crosswise));
        if (deadlock == null) {
            assertThat(database.name()).isEqualTo("postgresql");
            // the rival was the victim, so the guard is as it was
            refusedToOthers();
            tx.rollback();
            rivals.get(PATIENCE.toSeconds(), SECONDS);
            rival.rollback();
            return;
        }
        assertThat(rivals.get(PATIENCE.toSeconds(), SECONDS)).isNull();
        rival.commit();
        takenByAnother();
        carelessly(() -> execute(tx, crosswise));
        carelessly(() -> write(tx, 66));

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(LockException.class);
        carelessly(tx::commit);
        assertThat(balance()).isEqualTo(7);
    }

    /** As a caller does that ignores exceptions. */
    private static void carelessly(ThrowingCallable step) {
        Throwable ignored = catchThrowable(step);
        assertThat(ignored)
                .satisfiesAnyOf(
                        none -> assertThat(none).isNull(),
                        any -> assertThat(any).isInstanceOf(Exception.class));
    }
}
