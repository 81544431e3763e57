// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.opentest4j.TestAbortedException;

/**
 * A database of three members on this machine, started for one test, with the faults that such a database has to bear. It ends when it
 * is closed, or with this JVM, however that ends.
 *
 * <pre>{@code
 * try (Cluster cluster = Cluster.galera(ClusterSettings.defaults().with("wsrep_sync_wait", "7"))) {
 *     DataSource source = cluster.member(2).database().dataSource();
 *     cluster.member(1).kill();
 *     // the others go on without it
 *     cluster.member(1).rejoin();
 *     cluster.awaitOnline();
 * }
 * }</pre>
 *
 * <p>What is missing on this machine aborts the test with a message or, with {@code bitjang.ci=true}, fails it. A product that was left
 * out with {@code bitjang.testkit.databases} aborts it in any case.
 */
public final class Cluster implements AutoCloseable {

    /** How many members a cluster has. */
    public static final int MEMBERS = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final int PORTS_TO_TRY = 3;

    private final ClusterKind kind;
    private final ClusterLauncher launcher;
    private final ClusterNetwork network;
    private final List<ClusterMember> members = new ArrayList<>();

    private Cluster(ClusterKind kind, ClusterLauncher launcher, ClusterNetwork network) {
        this.kind = kind;
        this.launcher = launcher;
        this.network = network;
    }

    /** MariaDB with Galera, which Debian has as {@code mariadb-server-core} and {@code galera-4}. */
    public static Cluster galera(ClusterSettings settings) {
        return start(ClusterKind.GALERA, settings);
    }

    /** MySQL Group Replication with one member that takes writes: the first, until there is an election. */
    public static Cluster singlePrimary(ClusterSettings settings) {
        return start(ClusterKind.SINGLE_PRIMARY, settings);
    }

    /** MySQL Group Replication where every member takes writes. */
    public static Cluster multiPrimary(ClusterSettings settings) {
        return start(ClusterKind.MULTI_PRIMARY, settings);
    }

    /** Starts a cluster of that kind and returns when all its members are online; the first takes writes. */
    public static Cluster start(ClusterKind kind, ClusterSettings settings) {
        if (!TestDatabases.selected().contains(kind.product())) {
            String reason = kind.product() + " is not among the databases of " + Settings.property("databases");
            Progress.say("SKIPPED " + kind + ": " + reason);
            throw new TestAbortedException(reason);
        }
        ClusterLauncher launcher = ClusterLauncher.of(kind);
        launcher.require();
        long begin = System.nanoTime();
        for (int attempt = 1; ; attempt++) {
            try {
                Cluster cluster = started(kind, settings, launcher);
                Progress.say(kind + " runs with " + MEMBERS + " members after " + Progress.since(begin));
                return cluster;
            } catch (IOException e) {
                if (attempt == PORTS_TO_TRY || !LocalServer.portWasTaken(e)) {
                    throw new TestDatabaseException("Cannot start " + kind + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private static Cluster started(ClusterKind kind, ClusterSettings settings, ClusterLauncher launcher)
            throws IOException {
        ClusterNetwork network =
                settings.hasNetworks() ? ClusterNamespaces.of(MEMBERS) : new ClusterNetwork.Loopback(MEMBERS);
        Cluster cluster = new Cluster(kind, launcher, network);
        try {
            for (int number = 1; number <= MEMBERS; number++) {
                cluster.members.add(new ClusterMember(cluster, number, settings));
            }
            for (ClusterMember member : cluster.members) {
                launcher.prepare(member);
                member.startProcess(List.of());
            }
            launcher.form(cluster);
            cluster.awaitOnline();
            return cluster;
        } catch (TestDatabaseException e) {
            cluster.close();
            throw new IOException(e.getMessage(), e);
        } catch (IOException | RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    /** How its members belong together. */
    public ClusterKind kind() {
        return kind;
    }

    /** All members, running or not. */
    public List<ClusterMember> members() {
        return List.copyOf(members);
    }

    /** A member, counted from 1. */
    public ClusterMember member(int number) {
        return members.get(number - 1);
    }

    /** The first member that is online and takes writes; with several writers, any of them would do. */
    public Optional<ClusterMember> writer() {
        return members.stream().filter(ClusterMember::isWriter).findFirst();
    }

    /**
     * A source of connections that go to one member after the other, as a load balancer spreads them. Those to a member that is down
     * fail, as they do behind one that has not noticed yet.
     */
    public DataSource spread() {
        return new SpreadDataSource(
                members.stream().map(member -> member.database().dataSource()).toList(), new AtomicInteger());
    }

    /**
     * Returns when every member that runs is online, sees all others that run, and shows what was committed before. A member that is
     * made to lag is not waited for with that.
     *
     * @throws TestDatabaseException when they are not within two minutes, with their states and the last lines of their logs
     */
    public void awaitOnline() {
        awaitOnline(PATIENCE);
    }

    /** As {@link #awaitOnline()}, with another patience. */
    public void awaitOnline(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!agree()) {
            boolean hopeless = members.stream().anyMatch(ClusterMember::hasEndedByItself);
            if (hopeless || System.nanoTime() > deadline) {
                throw new TestDatabaseException(kind
                        + (hopeless
                                ? ": a member has ended"
                                : " is not online after " + patience.toSeconds() + " seconds")
                        + "\n" + report());
            }
            pause(100);
        }
    }

    /** Whether all that run are online, and show what any of them had a moment ago. */
    private boolean agree() {
        List<ClusterMember> running =
                members.stream().filter(ClusterMember::isRunning).toList();
        boolean writable = false;
        for (ClusterMember member : running) {
            ClusterState state = member.clusterState();
            if (!state.isOnline() || !state.sees(running.size())) {
                return false;
            }
            writable |= state.isWriter();
        }
        return writable && haveCaughtUp(running);
    }

    private boolean haveCaughtUp(List<ClusterMember> running) {
        try {
            List<String> positions = new ArrayList<>();
            for (ClusterMember member : running) {
                positions.add(member.ask(launcher::position));
            }
            for (ClusterMember member : running) {
                if (!member.lags() && !member.ask(connection -> hasReached(connection, positions))) {
                    return false;
                }
            }
            return true;
        } catch (SQLException e) {
            return false; // it has gone meanwhile
        }
    }

    private boolean hasReached(Connection connection, List<String> positions) throws SQLException {
        for (String position : positions) {
            if (!launcher.reached(connection, position)) {
                return false;
            }
        }
        return true;
    }

    /** The state of every member, and the last lines of its log. */
    public String report() {
        return members.stream()
                .map(member -> "-- member " + member.number() + ": " + member.state() + "\n" + member.log() + "\n")
                .collect(Collectors.joining());
    }

    ClusterLauncher launcher() {
        return launcher;
    }

    ClusterNetwork network() {
        return network;
    }

    /** Those that run, but for one. */
    List<ClusterMember> others(ClusterMember than) {
        return members.stream()
                .filter(member -> member != than && member.isRunning())
                .toList();
    }

    static void pause(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TestDatabaseException("Interrupted while a cluster changed its state", e);
        }
    }

    /** Ends all members and removes their data. */
    @Override
    public void close() {
        // each has to end before its folder can go: all at a time
        members.parallelStream().forEach(ClusterMember::end);
        network.end();
    }

    @Override
    public String toString() {
        return kind + members.toString();
    }
}
