// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.proof;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A process that takes the lock of an account, begins a transaction, reads the balance and then does what it is told, line by line:
 * {@code guard}, {@code write <balance>}, {@code commit}. It answers each with what became of it, and goes on whatever it was.
 */
public final class Holder {

    private Holder() {}

    /** Arguments: address, user, password, table, type and id of the lock, by what it guards, isolation, milliseconds of the lease. */
    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        config.setUsername(args[1]);
        config.setPassword(args[2]);
        config.setMaximumPoolSize(3);
        String account = args[3];
        LockName name = LockName.of(args[4], args[5]);
        Duration lasting = Duration.ofMillis(Long.parseLong(args[8]));
        try (HikariDataSource pool = new HikariDataSource(config);
                Locks locks = Locks.builder(pool)
                        .schema(Locks.Schema.NONE)
                        .owner("child")
                        .build();
                Connection tx = DriverManager.getConnection(args[0], args[1], args[2])) {
            Consumer<Connection> guard;
            long fence;
            if (args[6].equals("LEASE")) {
                Lease lease = locks.lease(name).lasting(lasting).acquire(Wait.none());
                fence = lease.fence();
                guard = lease::guard;
            } else {
                LockId id = locks.manager().tryLock(name.type(), name.id(), "child", lasting);
                fence = id.fence();
                guard = connection -> locks.manager().checkLock(connection, id);
            }
            tx.setAutoCommit(false);
            tx.setTransactionIsolation(Integer.parseInt(args[7]));
            try (Statement statement = tx.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT balance FROM " + account + " WHERE id = 1")) {
                rows.next();
            }
            System.out.println("holds " + fence);
            var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(line + ": " + answer(line.split(" "), tx, account, guard));
            }
        }
    }

    private static String answer(String[] command, Connection tx, String account, Consumer<Connection> guard) {
        try {
            switch (command[0]) {
                case "guard" -> guard.accept(tx);
                case "write" -> {
                    try (Statement statement = tx.createStatement()) {
                        statement.executeUpdate("UPDATE " + account + " SET balance = " + command[1] + " WHERE id = 1");
                    }
                }
                case "commit" -> tx.commit();
                default -> throw new IllegalArgumentException(command[0]);
            }
            return "done";
        } catch (LockException | SQLException e) {
            return e.getClass().getSimpleName();
        }
    }
}
