// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One of the servers of a {@link Cluster}, with the faults that it can have. A fault returns when it is there; that it is over again,
 * and the members agree, is seen by {@link Cluster#awaitOnline()}. Thread-safe.
 */
public final class ClusterMember {

    private final ReentrantLock lock = new ReentrantLock();
    private final Cluster cluster;
    private final int number;
    private final ClusterSettings settings;
    private final Path folder;
    private final JdbcDatabase database;
    private final @Nullable MemberClock clock;
    private volatile @Nullable ServerProcess process;
    private volatile boolean paused;
    private volatile ClusterLauncher.@Nullable Lag lag;

    ClusterMember(Cluster cluster, int number, ClusterSettings settings) throws IOException {
        this.cluster = cluster;
        this.number = number;
        this.settings = settings;
        this.clock = settings.hasClocks() ? new MemberClock() : null;
        this.folder = Running.newFolder(cluster.kind().name().toLowerCase(Locale.ROOT) + "-member" + number);
        this.database = new JdbcDatabase(
                cluster.kind().product(),
                new DriverDataSource(cluster.launcher().url(place()), Launcher.USER, Launcher.PASSWORD),
                ignored -> {
                    stop();
                    rejoin();
                });
    }

    /** Which of the members it is, counted from 1. */
    public int number() {
        return number;
    }

    /** The database as this member has it: with its address, user and password. Its {@code restart()} is a stop and a rejoin. */
    public TestDatabase database() {
        return database;
    }

    /** Whether its server is there, even if it stands still or is cut off. */
    public boolean isRunning() {
        ServerProcess now = process;
        return now != null && now.isAlive();
    }

    /** Whether it says that it belongs to the others and has what they have. */
    public boolean isOnline() {
        return clusterState().isOnline();
    }

    /** Whether it says that it takes writes. */
    public boolean isWriter() {
        return clusterState().isWriter();
    }

    /** What it says of itself in its own words, or why it says nothing; for messages. */
    public String state() {
        return clusterState().text();
    }

    /** The last lines of its log. */
    public String log() {
        return ServerProcess.logTail(folder);
    }

    /** Ends the server as a power cut does ({@code kill -9}); what it has committed stays. */
    public void kill() {
        change("kill", () -> {
            running().kill();
            ended();
        });
    }

    /** Stops the server in an orderly way: the others know that it goes. */
    public void stop() {
        change("stop", () -> {
            endLag();
            running().stop();
            ended();
        });
    }

    /** Lets the server read its settings again, also one that stands still: when it goes on. */
    void reload() throws IOException {
        running().hangUp();
    }

    /** Stops the server where it stands (SIGSTOP), with all processes that belong to it. */
    public void pause() {
        change("pause", () -> {
            running().pause();
            paused = true;
        });
    }

    /** Lets a paused server go on (SIGCONT). */
    public void resume() {
        change("resume", () -> {
            running().resume();
            paused = false;
        });
    }

    /**
     * Starts a server that was killed or stopped as it was, without a word to the others. A former primary takes writes again as if
     * nothing had happened; that is the fault. Returns when it answers.
     *
     * @throws UnsupportedOperationException on Galera, whose members do nothing without the others
     */
    public void startAlone() {
        if (cluster.kind() == ClusterKind.GALERA) {
            throw new UnsupportedOperationException("A member of Galera that finds no other waits for them");
        }
        change("start", () -> {
            startProcess(List.of());
            awaitAnswer();
        });
    }

    /**
     * Makes a server that was killed, stopped or left behind a member again, with what it has missed. One that runs is ended before,
     * but on Group Replication. On PostgreSQL it becomes a new copy of whoever takes writes. See {@link Cluster#awaitOnline()} for when
     * all others have noticed.
     */
    public void rejoin() {
        change("rejoin", () -> cluster.launcher().rejoin(this));
    }

    /**
     * Makes it the member that takes writes. On PostgreSQL the other standbys that run follow it, and nobody tells the former primary;
     * on Group Replication the group does it.
     *
     * @throws UnsupportedOperationException where every member takes writes
     */
    public void promote() {
        change("promote", () -> cluster.launcher().promote(this));
    }

    /**
     * Takes the member from the others, but not from its clients: whatever the members send each other is lost, and nobody is told.
     *
     * @throws IllegalStateException when the cluster was started without {@link ClusterSettings#cuttable()}
     */
    public void cutOff() {
        change("cut off", () -> cluster.network().cut(number));
    }

    /** Ends {@link #cutOff()}. */
    public void heal() {
        change("heal", () -> cluster.network().heal(number));
    }

    /**
     * Holds back what other members write from now on: it arrives here and is not seen, until {@link #catchUp()}. Local reads and
     * writes go on; where a local commit has to wait for what others wrote before (Galera), it does.
     *
     * @throws UnsupportedOperationException on a member that has nothing to hold back, because it alone takes writes
     */
    public void lag() {
        change("lag", () -> {
            if (lag == null) {
                lag = cluster.launcher().lag(this);
            }
        });
    }

    /** Ends {@link #lag()}. */
    public void catchUp() {
        change("catch up", this::endLag);
    }

    /**
     * Sets the member's wall clock that far from the true time, while it runs; a drift ends. Its monotonic clock goes on undisturbed.
     *
     * @throws IllegalStateException when the cluster was started without {@link ClusterSettings#wrongClocks()}
     */
    public void clock(Duration offset) {
        ownClock().set(offset);
    }

    /**
     * Lets the member's wall clock drift away from where it is now.
     *
     * @param perSecond seconds that it gains in a second, or loses if negative
     * @throws IllegalStateException when the cluster was started without {@link ClusterSettings#wrongClocks()}
     */
    public void drift(double perSecond) {
        ownClock().drift(perSecond);
    }

    private MemberClock ownClock() {
        if (clock == null) {
            throw new IllegalStateException(
                    this + " has the machine's clock: start the cluster with ClusterSettings.wrongClocks()");
        }
        return clock;
    }

    Cluster cluster() {
        return cluster;
    }

    Path folder() {
        return folder;
    }

    ClusterNetwork.Place place() {
        return cluster.network().place(number);
    }

    Map<String, String> serverSettings() {
        return settings.of(number);
    }

    /** Whether it ended though nobody asked it to. */
    boolean hasEndedByItself() {
        ServerProcess now = process;
        return now != null && !now.isAlive();
    }

    /** A short look, which fails rather than waits. */
    ClusterState clusterState() {
        if (!isRunning()) {
            return ClusterState.unknown(process == null ? "is down" : "has ended");
        }
        if (paused) {
            return ClusterState.unknown("is paused");
        }
        try {
            return ask(cluster.launcher()::state);
        } catch (SQLException e) {
            return ClusterState.unknown("gives no answer: " + e.getMessage());
        }
    }

    boolean lags() {
        return lag != null;
    }

    /** Something to ask a member. */
    @FunctionalInterface
    interface Question<T> {
        T of(Connection connection) throws SQLException;
    }

    /** A short question, which fails rather than waits. */
    <T> T ask(Question<T> question) throws SQLException {
        try (Connection connection = connect()) {
            return question.of(connection);
        }
    }

    /** With time-outs of seconds. */
    Connection connect() throws SQLException {
        String url = database.jdbcUrl();
        return DriverManager.getConnection(
                url + (url.contains("?") ? "&" : "?") + cluster.launcher().impatient(),
                database.user(),
                database.password());
    }

    /** Runs a statement that may take its time. */
    void execute(String sql) {
        database.execute(sql);
    }

    /** @param more arguments for the server, this time only */
    void startProcess(List<String> more) throws IOException {
        if (isRunning()) {
            throw new IllegalStateException(this + " runs already");
        }
        Map<String, String> environment = new LinkedHashMap<>(cluster.launcher().environment(this));
        if (clock != null) {
            environment.putAll(clock.environment());
        }
        List<String> command = new ArrayList<>(cluster.network().inside(number));
        command.add("env");
        environment.forEach((name, value) -> command.add(name + "=" + value));
        command.addAll(cluster.launcher().command(this));
        command.addAll(more);
        process = ServerProcess.start(folder, cluster.launcher().signals(), null, command);
    }

    /** Returns when its server takes connections. */
    void awaitAnswer() throws IOException {
        long deadline = System.nanoTime() + LocalServer.START.toNanos();
        while (true) {
            try (Connection ignored = connect()) {
                return;
            } catch (SQLException e) {
                if (!isRunning() || System.nanoTime() > deadline) {
                    throw new IOException(this + " does not answer\n" + log(), e);
                }
                Cluster.pause(100);
            }
        }
    }

    /** Its data stay, and nobody will write to them. */
    void endProcess() throws IOException {
        if (isRunning()) {
            running().kill();
        }
        ended();
    }

    private ServerProcess running() {
        ServerProcess now = process;
        if (now == null || !now.isAlive()) {
            throw new IllegalStateException(this + " does not run");
        }
        return now;
    }

    private void ended() {
        ServerProcess before = process;
        if (clock != null && before != null) {
            FakeClock.forget(before.pid());
        }
        process = null;
        paused = false;
        lag = null;
    }

    private void endLag() throws SQLException {
        ClusterLauncher.Lag held = lag;
        lag = null;
        if (held != null) {
            held.end();
        }
    }

    /** For good, with its data. */
    void end() {
        lock.lock();
        try {
            ServerProcess now = process;
            if (now != null) {
                now.end();
            }
            ended();
            Running.removeFolder(folder);
        } catch (IOException e) {
            Progress.say("cannot end " + this + ": " + e);
        } finally {
            if (clock != null) {
                clock.close();
            }
            lock.unlock();
        }
    }

    /** What a member is told to do. */
    @FunctionalInterface
    private interface Change {
        void make() throws IOException, SQLException;
    }

    private void change(String what, Change change) {
        lock.lock();
        try {
            change.make();
        } catch (IOException | SQLException e) {
            throw new TestDatabaseException("Cannot " + what + " " + this + ": " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "member " + number + " of " + cluster.kind() + " at " + place().host() + ":" + place().port();
    }
}
