// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.nodes;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.shop.start.Database;
import io.bitjang.shop.start.Failure;
import io.bitjang.shop.start.RunFile;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/**
 * A node of the job, in a JVM of its own, in plain Java. All nodes want the lease; who has it writes a line into each book every
 * second: into one as if the lease could not be lost, into the other with the guard in the same transaction.
 */
public final class Node {

    /** What all nodes want. */
    public static final LockName JOB = LockName.of("job", "settlement");

    /** How long a node that stands still keeps the others out. */
    public static final Duration LEASE = Duration.ofSeconds(4);

    private static final Duration STEP = Duration.ofMillis(800);
    private static final Duration BEAT = Duration.ofMillis(400);

    /** As long as the shop's own: a JVM that has just begun needs seconds for its first connection where others use the CPU. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Duration WITHOUT_DATABASE = Duration.ofSeconds(20);
    private static final Duration ENDING = Duration.ofSeconds(2);

    private final HikariDataSource pool;
    private final Locks locks;
    private final String name;

    private Node(HikariDataSource pool) throws SQLException {
        this.pool = pool;
        this.name = register();
        this.locks = Locks.builder(pool)
                .owner(name)
                .leaseDuration(LEASE)
                .schema(Locks.Schema.VALIDATE)
                .build();
    }

    /** As a child of the shop: ends when its input does. */
    public static void main(String[] arguments) {
        Thread watch = new Thread(Node::endWithTheShop, "watch");
        watch.setDaemon(true);
        watch.start();
        try {
            run(RunFile.ofThisClone().read());
        } catch (Failure e) {
            fail(e.line());
        }
    }

    private static void endWithTheShop() {
        try {
            while (System.in.read() >= 0) {
                // nothing is expected
            }
        } catch (IOException e) {
            // the end, too
        }
        System.exit(0);
    }

    /** Until it is killed, or the shop's database goes away. */
    public static void run(Database database) {
        LoggingSystem.get(Node.class.getClassLoader()).setLogLevel(LoggingSystem.ROOT_LOGGER_NAME, LogLevel.WARN);
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(database.url());
        pool.setUsername(database.user());
        pool.setPassword(database.password());
        pool.setMaximumPoolSize(6);
        pool.setConnectionTimeout(PATIENCE.toMillis());
        try {
            Node node = new Node(pool);
            Runtime.getRuntime().addShutdownHook(new Thread(node::close, "end"));
            Thread beats = new Thread(node::beat, "beat");
            beats.setDaemon(true);
            beats.start();
            node.say("is here, process " + ProcessHandle.current().pid() + "; Ctrl-C ends it");
            node.work();
        } catch (SQLException | LockException e) {
            fail("The shop's database does not answer: " + why(e));
        } catch (RuntimeException e) {
            fail("The node can't go on: " + why(e));
        }
    }

    /** In one line, with what is behind it: drivers tell a time-out there. */
    private static String why(Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String behind = root == thrown ? "" : " (" + root + ")";
        return (thrown + behind).replaceAll("\\s+", " ");
    }

    /** Its last line, which the shop shows. */
    private static void fail(String line) {
        System.err.println(line);
        System.exit(2);
    }

    /** The first name that is free. */
    private String register() throws SQLException {
        for (int i = 1; ; i++) {
            try (Connection connection = pool.getConnection();
                    PreparedStatement insert = connection.prepareStatement(
                            "INSERT INTO shop_node (name, pid, seen_at) VALUES (?, ?, ?)")) {
                insert.setString(1, "node-" + i);
                insert.setLong(2, ProcessHandle.current().pid());
                insert.setLong(3, System.currentTimeMillis());
                insert.executeUpdate();
                return "node-" + i;
            } catch (SQLException e) {
                boolean taken = e.getSQLState() != null && e.getSQLState().startsWith("23");
                if (!taken || i > 1000) {
                    throw e;
                }
            }
        }
    }

    private void work() {
        while (true) {
            try (Lease lease = locks.lease(JOB).acquire(Wait.forever())) {
                say("has the job, fence " + lease.fence());
                settle(lease);
            } catch (LockException | SQLException e) {
                say("could not go on: " + e.getMessage());
                pause(STEP);
            }
        }
    }

    /** As long as the guard lets it. It counts the lines itself: nobody else writes, it believes. */
    private void settle(Lease lease) throws SQLException {
        long plain;
        long guarded;
        try (Connection connection = pool.getConnection()) {
            plain = Ledger.lastLine(connection, Ledger.PLAIN);
            guarded = Ledger.lastLine(connection, Ledger.GUARDED);
        }
        while (true) {
            pause(STEP);
            try (Connection connection = pool.getConnection()) {
                Ledger.write(connection, Ledger.PLAIN, ++plain, name, lease.fence(), null);
            }
            try (Connection connection = pool.getConnection()) {
                writeGuarded(connection, lease, ++guarded);
            } catch (NoLockException e) {
                say("woke up too late, and was refused: " + e.getMessage());
                try (Connection connection = pool.getConnection()) {
                    Ledger.write(connection, Ledger.GUARDED, guarded, name, lease.fence(), e.getMessage());
                }
                return;
            }
        }
    }

    /** The line commits only if the lease is still this node's. */
    private void writeGuarded(Connection connection, Lease lease, long line) throws SQLException {
        connection.setAutoCommit(false);
        try {
            lease.guard(connection);
            Ledger.write(connection, Ledger.GUARDED, line, name, lease.fence(), null);
            connection.commit();
        } catch (SQLException | RuntimeException e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    /** Says that it is alive. Nothing is decided by that; it is for the page. */
    private void beat() {
        long answered = System.nanoTime();
        while (true) {
            try (Connection connection = pool.getConnection();
                    PreparedStatement update =
                            connection.prepareStatement("UPDATE shop_node SET seen_at = ? WHERE name = ?")) {
                update.setLong(1, System.currentTimeMillis());
                update.setString(2, name);
                if (update.executeUpdate() == 0) {
                    say("ends: this is another shop's database now");
                    Runtime.getRuntime().halt(0);
                }
                answered = System.nanoTime();
            } catch (SQLException e) {
                if (System.nanoTime() - answered > WITHOUT_DATABASE.toNanos()) {
                    say("ends: the shop's database has gone");
                    Runtime.getRuntime().halt(0);
                }
            }
            pause(BEAT);
        }
    }

    private void close() {
        pool.setConnectionTimeout(ENDING.toMillis());
        try (Connection connection = pool.getConnection();
                PreparedStatement delete = connection.prepareStatement("DELETE FROM shop_node WHERE name = ?")) {
            locks.close();
            delete.setString(1, name);
            delete.executeUpdate();
        } catch (SQLException e) {
            // the database may have gone first
        }
    }

    private void say(String what) {
        System.out.println(name + " " + what);
    }

    private static void pause(Duration duration) {
        try {
            TimeUnit.NANOSECONDS.sleep(duration.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }
}
