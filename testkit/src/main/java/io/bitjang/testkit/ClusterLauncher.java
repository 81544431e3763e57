// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** How one kind of cluster is started and changed. */
interface ClusterLauncher {

    static ClusterLauncher of(ClusterKind kind) {
        return switch (kind) {
            case GALERA -> new GaleraLauncher();
            case SINGLE_PRIMARY, MULTI_PRIMARY -> new GroupReplicationLauncher(kind);
            case ASYNCHRONOUS, SYNCHRONOUS, REMOTE_APPLY -> new StandbyLauncher(kind);
        };
    }

    String url(ClusterNetwork.Place place);

    /** What is added to the address by who must not wait for an answer that may never come. */
    String impatient();

    ServerProcess.Signals signals();

    /** Aborts the test when this machine lacks the binaries. */
    void require();

    /** Fills the folder of a new member. */
    void prepare(ClusterMember member) throws IOException;

    List<String> command(ClusterMember member) throws IOException;

    /** What the server has in its environment. */
    default Map<String, String> environment(ClusterMember member) {
        return Map.of();
    }

    /** Makes one database of servers that have just been started. */
    void form(Cluster cluster) throws IOException;

    /** Makes a server that is down a member again. */
    void rejoin(ClusterMember member) throws IOException;

    /** Makes the member the one that takes writes. */
    void promote(ClusterMember member) throws IOException;

    ClusterState state(Connection connection) throws SQLException;

    /** How far a member has come, for {@link #reached}. */
    String position(Connection connection) throws SQLException;

    /** Whether a member shows what another showed at that position. */
    boolean reached(Connection connection, String position) throws SQLException;

    /** Holds back what other members write, on that member only, until the answer is closed. */
    Lag lag(ClusterMember member) throws SQLException;

    /** What keeps a member behind. */
    @FunctionalInterface
    interface Lag {
        void end() throws SQLException;
    }
}
