// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockId;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * With {@code transactionReplay} MariaDB's driver repeats a transaction on another connection when its own breaks, and looks at no
 * answer: a guard that finds the lock gone would not be heard.
 */
@OnDatabase("mariadb")
class TransactionReplayTest {

    private final TestDatabase database;
    /** Of this test alone: the tables are those of all tests. */
    private final String order = UUID.randomUUID().toString();

    private Locks locks;

    TransactionReplayTest(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void one_row_that_nobody_has_changed() throws SQLException {
        locks = Locks.create(database.dataSource());
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE OR REPLACE TABLE replayed (changed_by varchar(10))");
            statement.execute("INSERT INTO replayed VALUES ('nobody')");
        }
    }

    @AfterEach
    void close() throws SQLException {
        locks.close();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE replayed");
        }
    }

    @Test
    void repeated_transaction_of_a_former_holder_commits_nothing() throws SQLException {
        LockId kim = locks.manager().tryLock("replayed", order, "kim", Duration.ofMinutes(1));
        try (Connection connection = replaying();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            boolean guarded = true;
            try {
                locks.manager().checkLock(connection, kim);
            } catch (IllegalStateException e) {
                guarded = false;
                assertThat(e).hasMessageContaining("transactionReplay").hasMessageContaining("rolled back");
            }
            if (guarded) {
                statement.executeUpdate("UPDATE replayed SET changed_by = 'kim'");
                kill(connection);
                locks.manager().releaseLock(kim);
                locks.manager().tryLock("replayed", order, "lee");
                statement
                        .executeQuery("SELECT 1")
                        .close(); // finds the connection broken, and repeats all that was before it
                connection.commit();
            }
        }
        assertThat(changedBy()).isEqualTo("nobody");
    }

    @Test
    void guard_on_a_connection_that_repeats_transactions_writes_nothing_even_if_the_caller_goes_on()
            throws SQLException {
        LockId kim = locks.manager().tryLock("replayed", order, "kim");
        try (Connection connection = replaying();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.executeUpdate("UPDATE replayed SET changed_by = 'kim'");
            assertThatThrownBy(() -> locks.manager().checkLock(connection, kim))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("transactionReplay")
                    .hasMessageContaining("rolled back");
            connection.commit();
        }
        assertThat(changedBy()).isEqualTo("nobody");
        locks.manager().releaseLock(kim);
    }

    @Test
    void session_lock_of_a_transaction_that_may_be_repeated_is_refused() throws SQLException {
        try (Connection connection = replaying()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() ->
                            locks.session("replayed:" + order).callInTransaction(connection, Wait.none(), () -> null))
                    .isInstanceOf(LockingFailException.class)
                    .hasMessageContaining("transactionReplay");
        }
    }

    private Connection replaying() throws SQLException {
        String address = database.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mariadb:sequential:");
        return DriverManager.getConnection(address + "&transactionReplay=true", database.user(), database.password());
    }

    private void kill(Connection victim) throws SQLException {
        long session;
        try (Statement statement = victim.createStatement();
                ResultSet row = statement.executeQuery("SELECT CONNECTION_ID()")) {
            row.next();
            session = row.getLong(1);
        }
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("KILL " + session);
        }
    }

    private String changedBy() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT changed_by FROM replayed")) {
            row.next();
            return row.getString(1);
        }
    }
}
