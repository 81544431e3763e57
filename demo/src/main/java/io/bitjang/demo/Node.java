// SPDX-License-Identifier: Apache-2.0
package io.bitjang.demo;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.h2.jdbcx.JdbcConnectionPool;
import org.jspecify.annotations.Nullable;

/**
 * One node of the cluster, in a JVM of its own. It takes its orders line by line from its input and says on its output what became
 * of them; it ends when its input does, so it does not outlive the demonstration.
 */
final class Node {

    static final String JOB = "nightly-report";
    static final LockName ORDER = LockName.of("order", "42");
    static final Duration LASTING = Duration.ofSeconds(2);

    private final JdbcConnectionPool pool;
    private final Locks locks;
    private final String name;
    private @Nullable LockId form;

    private Node(String url, String name) {
        this.name = name;
        this.pool = JdbcConnectionPool.create(url, "sa", "");
        this.locks = Locks.builder(pool).owner(name).listener(Node::heard).build();
    }

    public static void main(String[] args) throws IOException, SQLException {
        Node node = new Node(args[0], args[1]);
        say("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            switch (order) {
                case "work" -> node.beginWork();
                case "open" -> node.open();
                default -> node.save(order);
            }
        }
        System.exit(0);
    }

    /** On a thread of its own, because waiting for the job must not keep the node from hearing that it should end. */
    private void beginWork() {
        Thread worker = new Thread(this::work, "work");
        worker.setDaemon(true);
        worker.start();
    }

    private void work() {
        Optional<Lease> free = locks.lease(JOB).lasting(LASTING).tryAcquire();
        if (free.isEmpty()) {
            say("waits "
                    + locks.admin().find(LockName.of(JOB)).map(LockData::owner).orElse("nobody"));
        }
        Lease lease =
                free.orElseGet(() -> locks.lease(JOB).lasting(LASTING).acquire(Wait.upTo(Duration.ofSeconds(20))));
        say("got " + lease.fence());
    }

    /** An edit screen is opened: the lock id stays in the form until it is saved. */
    private void open() {
        try {
            LockId lockId = locks.manager().tryLock(ORDER.type(), ORDER.id(), name, LASTING);
            form = lockId;
            say("opened " + lockId.fence());
        } catch (AlreadyLockedException e) {
            say("locked " + e.holder().map(LockData::owner).orElse("nobody"));
        }
    }

    /** The form is saved: change, check and release are one transaction. */
    private void save(String address) throws SQLException {
        LockId lockId = form;
        if (lockId == null) {
            throw new IllegalStateException("No form is open");
        }
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement update =
                    connection.prepareStatement("UPDATE orders SET address = ? WHERE id = 42")) {
                update.setString(1, address);
                update.executeUpdate();
            }
            locks.manager().checkLock(connection, lockId);
            locks.manager().releaseLock(connection, lockId);
            connection.commit();
            say("saved");
        } catch (NoLockException e) {
            say("refused " + e.getMessage());
        }
    }

    private static void heard(LockEvent event) {
        if (event.kind() == LockEvent.Kind.RENEWED) {
            say("renewed " + event.fence());
        }
    }

    private static void say(String line) {
        System.out.println(NodeProcess.MARK + line);
    }
}
