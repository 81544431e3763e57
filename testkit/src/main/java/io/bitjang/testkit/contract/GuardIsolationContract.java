// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static java.sql.Connection.TRANSACTION_READ_COMMITTED;
import static java.sql.Connection.TRANSACTION_REPEATABLE_READ;
import static java.sql.Connection.TRANSACTION_SERIALIZABLE;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.LockId;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.StaleSnapshotException;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The guard and the isolation of the caller's transaction: a snapshot must be younger than the grant, or it may show what the former
 * holder has changed since. And the guard leaves the transaction's settings alone.
 */
public abstract class GuardIsolationContract extends OnAccounts {

    private static final int H2_SNAPSHOT = 6;

    /** For the databases' test classes. */
    protected GuardIsolationContract() {}

    /** The ways to guard a transaction. */
    enum Guard {
        CHECK,
        RELEASE,
        LEASE
    }

    /** Of the caller's transaction. */
    enum Isolation {
        READ_COMMITTED,
        REPEATABLE_READ,
        SERIALIZABLE
    }

    private int level(Isolation isolation) {
        return switch (isolation) {
            case READ_COMMITTED -> TRANSACTION_READ_COMMITTED;
            case REPEATABLE_READ -> repeatableRead();
            case SERIALIZABLE -> TRANSACTION_SERIALIZABLE;
        };
    }

    /** H2's level of that name has a snapshot per table; the one of the whole database is called SNAPSHOT there. */
    private int repeatableRead() {
        return database.name().equals("h2") ? H2_SNAPSHOT : TRANSACTION_REPEATABLE_READ;
    }

    @ParameterizedTest
    @EnumSource
    void repeatable_read_that_began_before_the_grant_is_refused(Guard guard) throws Exception {
        LockId former = other.manager().tryLock(account.type(), account.id());
        Connection tx = transaction(repeatableRead());
        assertThat(balance(tx)).isZero();
        write(100);
        other.manager().releaseLock(former);

        assertThatThrownBy(() -> acquireAndGuard(guard, tx)).isInstanceOf(StaleSnapshotException.class);

        tx.commit();
        assertThat(balance()).isEqualTo(100);
        assertThat(locks.admin().find(account))
                .hasValueSatisfying(now -> assertThat(now.held())
                        .as("refused for its snapshot, the lock is still held")
                        .isTrue());
    }

    @ParameterizedTest
    @EnumSource
    void repeatable_read_that_began_before_the_very_first_grant_is_refused(Guard guard) throws Exception {
        Connection tx = transaction(repeatableRead());
        assertThat(balance(tx)).isZero();
        write(100);

        assertThatThrownBy(() -> acquireAndGuard(guard, tx)).isInstanceOf(StaleSnapshotException.class);

        tx.commit();
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void refused_snapshot_has_written_nothing() throws Exception {
        database.execute("INSERT INTO " + accounts + " VALUES (2, 0)");
        Connection tx = transaction(repeatableRead());
        assertThat(balance(tx)).isZero();
        execute(tx, "UPDATE " + accounts + " SET balance = 66 WHERE id = 2");

        assertThatThrownBy(() -> acquireAndGuard(Guard.CHECK, tx)).isInstanceOf(StaleSnapshotException.class);

        tx.commit();
        assertThat(text(tx, "SELECT balance FROM " + accounts + " WHERE id = 2"))
                .isEqualTo("0");
    }

    @ParameterizedTest
    @EnumSource
    void read_committed_that_began_before_the_grant_passes_and_reads_the_present(Guard guard) throws Exception {
        LockId former = other.manager().tryLock(account.type(), account.id());
        Connection tx = transaction(TRANSACTION_READ_COMMITTED);
        assertThat(balance(tx)).isZero();
        write(100);
        other.manager().releaseLock(former);

        acquireAndGuard(guard, tx);

        assertThat(balance(tx)).isEqualTo(100);
        write(tx, balance(tx) + 1);
        tx.commit();
        assertThat(balance()).isEqualTo(101);
    }

    @ParameterizedTest
    @EnumSource
    void transaction_that_began_after_the_grant_passes_at_every_level(Isolation isolation) throws Exception {
        LockId former = other.manager().tryLock(account.type(), account.id());
        write(100);
        other.manager().releaseLock(former);
        LockId id = locks.manager().tryLock(account.type(), account.id());

        Connection tx = transaction(level(isolation));
        assertThat(balance(tx)).isEqualTo(100);
        locks.manager().checkLock(tx, id);
        assertThat(other.lease(account).tryAcquire()).isEmpty();
        write(tx, balance(tx) + 1);
        locks.manager().releaseLock(tx, id);
        tx.commit();

        assertThat(balance()).isEqualTo(101);
        assertThat(other.lease(account).tryAcquire()).hasValueSatisfying(Lease::close);
    }

    @ParameterizedTest
    @EnumSource
    void transaction_that_saw_the_lock_before_it_was_taken_over_is_refused_at_every_level(Isolation isolation)
            throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id(), "kim", Duration.ofMillis(50));
        Connection tx = transaction(level(isolation));
        assertThat(text(tx, "SELECT 1 FROM " + accounts + " WHERE id = -1")).isNull();
        awaitLapse(account);
        LockId next = other.manager().tryLock(account.type(), account.id());

        assertThatThrownBy(() -> locks.manager().checkLock(tx, id))
                .isInstanceOf(NoLockException.class)
                .isNotInstanceOf(StaleSnapshotException.class);

        assertThat(other.manager().checkLock(next).held()).isTrue();
    }

    /**
     * InnoDB turns the plain reads of a serializable transaction into locking ones: what it has read can't change any more, so the
     * guard has nothing to refuse. PostgreSQL and H2 read a snapshot.
     */
    @Test
    void serializable_read_before_the_grant_is_refused_or_has_kept_the_row_from_changing() throws Exception {
        LockId former = other.manager().tryLock(account.type(), account.id());
        Connection tx = transaction(TRANSACTION_SERIALIZABLE);
        assertThat(balance(tx)).isZero();
        boolean changed = changesWithinASecond();
        other.manager().releaseLock(former);

        assertThat(changed).isEqualTo(!database.name().matches("mysql|mariadb"));
        if (changed) {
            assertThatThrownBy(() -> acquireAndGuard(Guard.CHECK, tx)).isInstanceOf(StaleSnapshotException.class);
        } else {
            acquireAndGuard(Guard.CHECK, tx);
            write(tx, balance(tx) + 1);
            tx.commit();
        }
        assertThat(balance()).isEqualTo(changed ? 100 : 1);
    }

    private boolean changesWithinASecond() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            // only where the row is kept from changing is it worth a second and no more
            statement.setQueryTimeout(database.name().matches("mysql|mariadb") ? 1 : 30);
            return statement.executeUpdate("UPDATE " + accounts + " SET balance = 100 WHERE id = 1") == 1;
        } catch (SQLException e) {
            return false;
        }
    }

    /** On H2 the transaction has to be repeated at REPEATABLE READ, as after any change of a row that it locks. */
    @ParameterizedTest
    @EnumSource(names = {"READ_COMMITTED", "REPEATABLE_READ"})
    void heartbeat_of_the_holder_does_not_end_its_right(Isolation isolation) throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id());
        Connection tx = transaction(level(isolation));
        assertThat(balance(tx)).isZero();
        other.manager().renew(id, Duration.ofMinutes(10));

        if (database.name().equals("h2") && isolation == Isolation.REPEATABLE_READ) {
            assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(LockingFailException.class);
        }
        locks.manager().checkLock(tx, id);
        write(tx, 100);
        tx.commit();

        assertThat(balance()).isEqualTo(100);
    }

    /** A heartbeat that is not committed yet has the row locked for a moment: the release waits for it. */
    @Test
    void heartbeat_that_is_under_way_does_not_spoil_the_release() throws Exception {
        LockId id = locks.manager().tryLock(account.type(), account.id());
        CountDownLatch renewed = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(1);
        config.setAutoCommit(false);
        CountingDataSource slow = new CountingDataSource(closing(new HikariDataSource(config)));
        Locks heartbeats = closing(Locks.builder(slow).schema(Locks.Schema.NONE).build());
        slow.onStatement(sql -> {
            if (sql.equals("COMMIT")) {
                renewed.countDown();
                awaitLatch(goOn);
            }
        });
        CompletableFuture<Void> heartbeat =
                CompletableFuture.runAsync(() -> heartbeats.manager().renew(id, Duration.ofMinutes(10)));
        awaitLatch(renewed);
        Connection tx = transaction(TRANSACTION_READ_COMMITTED);
        if (database.name().equals("h2")) {
            // it would wait for two seconds, which this machine may need for itself
            execute(tx, "SET LOCK_TIMEOUT 30000");
        }

        CompletableFuture<Void> release =
                CompletableFuture.runAsync(() -> locks.manager().releaseLock(tx, id));
        assertThatThrownBy(() -> release.get(A_WHILE.toMillis(), MILLISECONDS)).isInstanceOf(TimeoutException.class);
        goOn.countDown();
        heartbeat.get(PATIENCE.toSeconds(), SECONDS);
        release.get(PATIENCE.toSeconds(), SECONDS);
        tx.commit();

        assertThat(other.lease(account).tryAcquire()).hasValueSatisfying(Lease::close);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"READ_COMMITTED", "REPEATABLE_READ"})
    void settings_of_the_callers_transaction_are_unchanged(Isolation isolation) throws Exception {
        Connection tx = transaction(level(isolation));
        settings().forEach((setting, value) -> set(tx, setting, value));
        tx.commit();
        LockId id = locks.manager().tryLock(account.type(), account.id());
        Lease lease = locks.lease(lockName("lease")).acquire(Wait.none());
        Map<String, String> before = settingsOf(tx);
        assertThat(before).containsAllEntriesOf(settings());

        locks.manager().checkLock(tx, id);
        assertThat(settingsOf(tx)).as("after checkLock").isEqualTo(before);
        lease.guard(tx);
        assertThat(settingsOf(tx)).as("after guard").isEqualTo(before);
        locks.manager().releaseLock(tx, id);
        assertThat(settingsOf(tx)).as("after releaseLock").isEqualTo(before);
        tx.commit();
        assertThat(settingsOf(tx)).as("after the commit").isEqualTo(before);
        assertThatThrownBy(() -> locks.manager().checkLock(tx, id)).isInstanceOf(NoLockException.class);
        assertThat(settingsOf(tx)).as("after a refusal").isEqualTo(before);
    }

    /** Settings that a careless lock would change, each to a value that is not the default. */
    private Map<String, String> settings() {
        return switch (database.name()) {
            case "postgresql" -> Map.of("lock_timeout", "7777ms", "synchronous_commit", "local");
            case "mysql", "mariadb" -> Map.of("innodb_lock_wait_timeout", "77");
            default -> Map.of("LOCK_TIMEOUT", "7777");
        };
    }

    private void set(Connection connection, String setting, String value) {
        String sql = switch (database.name()) {
            case "postgresql" -> "SET " + setting + " = '" + value + "'";
            case "mysql", "mariadb" -> "SET SESSION " + setting + " = " + value;
            default -> "SET " + setting + " " + value;
        };
        try {
            execute(connection, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private Map<String, String> settingsOf(Connection connection) throws SQLException {
        Map<String, String> now = new LinkedHashMap<>();
        now.put("auto-commit", String.valueOf(connection.getAutoCommit()));
        now.put("isolation", String.valueOf(connection.getTransactionIsolation()));
        now.put("read-only", String.valueOf(connection.isReadOnly()));
        for (String setting : List.copyOf(settings().keySet())) {
            now.put(
                    setting,
                    text(
                            connection,
                            switch (database.name()) {
                                case "postgresql" -> "SHOW " + setting;
                                case "mysql", "mariadb" -> "SELECT @@SESSION." + setting;
                                default -> "SELECT LOCK_TIMEOUT()";
                            }));
        }
        return now;
    }

    private void acquireAndGuard(Guard guard, Connection tx) {
        switch (guard) {
            case CHECK -> locks.manager().checkLock(tx, locks.manager().tryLock(account.type(), account.id()));
            case RELEASE -> locks.manager().releaseLock(tx, locks.manager().tryLock(account.type(), account.id()));
            case LEASE -> locks.lease(account).acquire(Wait.none()).guard(tx);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static @Nullable String text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getString(1) : null;
        }
    }
}
