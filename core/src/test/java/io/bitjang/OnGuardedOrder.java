// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;

/** An order that is paid in a transaction, and its lock. */
abstract class OnGuardedOrder extends OnH2 {

    static final LockName ORDER = LockName.of("order", "42");

    Connection mine;

    @BeforeEach
    void begin() throws SQLException {
        execute("CREATE TABLE account (balance INT)");
        execute("INSERT INTO account VALUES (100)");
        mine = transaction();
    }

    void pay() throws SQLException {
        try (Statement statement = mine.createStatement()) {
            statement.executeUpdate("UPDATE account SET balance = 0");
        }
    }

    int balance() throws SQLException {
        try (Connection connection = transaction();
                var row = connection.createStatement().executeQuery("SELECT balance FROM account")) {
            row.next();
            return row.getInt(1);
        }
    }

    LockId kim() {
        return node.manager().tryLock("order", "42", "kim", LONG);
    }
}
