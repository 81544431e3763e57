// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Watches the sessions that this JVM has on one database, over a connection of its own. Not thread-safe. */
final class SessionMonitor implements AutoCloseable {

    private final TestDatabase database;
    private final Sessions sessions;
    private @Nullable Connection connection;
    private boolean portsAreSeen;

    SessionMonitor(TestDatabase database) {
        this.database = database;
        this.sessions = Sessions.of(database.name());
    }

    TestDatabase database() {
        return database;
    }

    /** The sessions of this JVM without the monitor's own. */
    List<Sessions.Session> ours() throws SQLException {
        try {
            return filtered(connected());
        } catch (SQLException e) {
            // Killed with the others or lost in a restart, as tests do.
            close();
            return filtered(connected());
        }
    }

    private List<Sessions.Session> filtered(Connection by) throws SQLException {
        List<Sessions.Session> all = sessions.others(by);
        if (!portsAreSeen) {
            return all;
        }
        Set<Integer> ports = OwnPorts.find().orElseThrow();
        return all.stream().filter(s -> ports.contains(s.clientPort())).toList();
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
        Set<Integer> ports = OwnPorts.find().orElse(Set.of());
        if (ports.isEmpty()) {
            return false;
        }
        long id = sessions.id(watched);
        try (Connection other = database.dataSource().getConnection()) {
            return sessions.others(other).stream().anyMatch(s -> s.id() == id && ports.contains(s.clientPort()));
        }
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
