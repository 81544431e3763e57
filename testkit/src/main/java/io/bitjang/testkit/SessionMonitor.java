// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Watches the sessions that this JVM has on one database, over a connection of its own. Not thread-safe. */
final class SessionMonitor implements AutoCloseable {

    private final TestDatabase database;
    private final Sessions sessions;
    private @Nullable Connection connection;
    private boolean portsAreSeen;
    private Set<Long> inTransaction = Set.of();
    private long looked = System.nanoTime();

    SessionMonitor(TestDatabase database) {
        this.database = database;
        this.sessions = Sessions.of(database.name());
    }

    TestDatabase database() {
        return database;
    }

    /**
     * The sessions of this JVM without the monitor's own.
     *
     * @param afresh whether transactions must be looked up anew, which may take a moment, or may be those of the last time
     */
    List<Sessions.Session> ours(boolean afresh) throws SQLException {
        try {
            return filtered(connected(), afresh);
        } catch (SQLException e) {
            // Killed with the others or lost in a restart, as tests do.
            close();
            return filtered(connected(), afresh);
        }
    }

    private List<Sessions.Session> filtered(Connection by, boolean afresh) throws SQLException {
        List<Sessions.Session> all = sessions.others(by);
        if (portsAreSeen && !all.isEmpty()) {
            Set<Integer> ports = ownPorts();
            all = all.stream()
                    .filter(session -> ports.contains(session.clientPort()))
                    .toList();
        }
        if (sessions != Sessions.MYSQL) {
            return all;
        }
        if (afresh && !all.isEmpty()) {
            awaitNewPicture();
            inTransaction = sessions.inTransaction(by);
        }
        return all.stream()
                .map(session -> session.inTransaction(inTransaction.contains(session.id())))
                .toList();
    }

    private void awaitNewPicture() throws SQLException {
        try {
            long wait = looked + Sessions.PICTURE_AGE.toNanos() - System.nanoTime();
            TimeUnit.NANOSECONDS.sleep(wait);
            looked = System.nanoTime();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("Interrupted while looking for open transactions", e);
        }
    }

    private Connection connected() throws SQLException {
        if (connection == null) {
            Connection opened = database.dataSource().getConnection();
            connection = opened;
            portsAreSeen = seesPorts(opened);
        }
        return connection;
    }

    /** Behind a translated address a server sees other ports than we do; then all its sessions count as ours. */
    private boolean seesPorts(Connection watched) throws SQLException {
        Set<Integer> ports = ownPorts();
        if (ports.isEmpty()) {
            return false;
        }
        long id = sessions.id(watched);
        try (Connection other = database.dataSource().getConnection()) {
            return sessions.others(other).stream().anyMatch(s -> s.id() == id && ports.contains(s.clientPort()));
        }
    }

    private Set<Integer> ownPorts() {
        boolean inThisProcess = database.jdbcUrl().startsWith("jdbc:h2:mem:");
        return inThisProcess ? Set.of() : OwnPorts.find(database.port()).orElse(Set.of());
    }

    @Override
    public void close() {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                Progress.say("the leak check's connection did not close: " + e.getMessage());
            }
            connection = null;
        }
    }
}
