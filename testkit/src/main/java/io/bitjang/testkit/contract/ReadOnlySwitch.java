// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import io.bitjang.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A database that can be made read-only for the connections of this source, in the way that is usual there. */
final class ReadOnlySwitch extends PlainSource implements AutoCloseable {

    private static final String READER = "bitjang_reader";

    private final TestDatabase database;
    private volatile boolean readOnly;

    ReadOnlySwitch(TestDatabase database) {
        this.database = database;
        switch (database.name()) {
            case "h2" -> {
                execute("CREATE USER IF NOT EXISTS " + READER + " PASSWORD 'reader'");
                execute("GRANT SELECT ON SCHEMA PUBLIC TO " + READER);
            }
            case "mariadb" -> {
                // an administrator may write to a read-only server
                execute("CREATE USER IF NOT EXISTS " + READER + " IDENTIFIED BY 'reader'");
                execute("GRANT ALL ON *.* TO " + READER);
                execute("REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM " + READER);
            }
            default -> {}
        }
    }

    void readOnly(boolean on) {
        readOnly = on;
        switch (database.name()) {
            case "mysql" -> execute("SET GLOBAL " + (on ? "super_read_only = ON" : "read_only = OFF"));
            case "mariadb" -> execute("SET GLOBAL read_only = " + (on ? "ON" : "OFF"));
            default -> {}
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        boolean otherUser =
                readOnly && !database.name().equals("mysql") && !database.name().equals("postgresql");
        Connection connection = otherUser
                ? database.dataSource().getConnection(READER, "reader")
                : database.dataSource().getConnection();
        if (readOnly && database.name().equals("postgresql")) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET default_transaction_read_only = on");
            }
        }
        return connection;
    }

    private void execute(String sql) {
        database.execute(sql);
    }

    @Override
    public void close() {
        readOnly(false);
        switch (database.name()) {
            case "h2", "mariadb" -> execute("DROP USER " + READER);
            default -> {}
        }
    }
}
