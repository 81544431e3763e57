// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;

/** What the contracts of the guard stand on: next to the locks, one account whose balance is the business data. */
public abstract class OnAccounts extends OnLocks {

    /** Long enough for a loaded machine. */
    protected static final Duration PATIENCE = Duration.ofSeconds(30);

    /** How long something must not happen. */
    protected static final Duration A_WHILE = Duration.ofMillis(400);

    /** The table with the account, whose balance is 0 at first. */
    protected String accounts;

    /** The lock of the account. */
    protected LockName account;

    /** For the contracts of this package and of users. */
    @SuppressWarnings("NullAway.Init")
    protected OnAccounts() {}

    @BeforeEach
    final void openAccount() {
        accounts = prefix() + "account";
        account = LockName.of("account", name("1"));
        database.execute("CREATE TABLE " + accounts + " (id INT PRIMARY KEY, balance INT NOT NULL)");
        AutoCloseable drop = () -> database.execute("DROP TABLE " + accounts);
        closing(drop);
        database.execute("INSERT INTO " + accounts + " VALUES (1, 0)");
    }

    /** The balance as the transaction sees it. */
    protected int balance(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT balance FROM " + accounts + " WHERE id = 1")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    /** The balance that is committed. */
    protected int balance() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return balance(connection);
        }
    }

    /** Sets the balance. */
    protected void write(Connection connection, int balance) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("UPDATE " + accounts + " SET balance = ? WHERE id = 1")) {
            statement.setInt(1, balance);
            assertThat(statement.executeUpdate()).isOne();
        }
    }

    /** Sets the balance in a transaction of its own. */
    protected void write(int balance) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            write(connection, balance);
        }
    }

    /** A transaction at an isolation level of {@link Connection}. */
    protected Connection transaction(int isolation) throws SQLException {
        Connection connection = transaction();
        connection.setTransactionIsolation(isolation);
        return connection;
    }

    /**
     * Waits until the lock has run out by the database's clock, in the hands of whoever has it. A lease may be free by then: its
     * process gives back what has run out, in case a renewal was late.
     */
    protected void awaitLapse(LockName name) throws Exception {
        await(
                "the lapse of " + name,
                () -> locks.admin().find(name).filter(data -> !data.held()).isPresent());
    }

    /** Waits for what no latch can tell. */
    protected static void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("time to wait for " + what).isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }
}
