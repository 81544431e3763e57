// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts PostgreSQL with two standbys. All begin with the same prepared data folder, which needs no copying from one to the other; a
 * member that comes back is a new copy of the primary.
 */
final class StandbyLauncher implements ClusterLauncher {

    /** What belongs to a running server and not to its data, and the log, which a standby fetches by itself. */
    private static final Set<String> NOT_COPIED = Set.of(
            "postmaster.pid",
            "postmaster.opts",
            "pg_wal",
            "pg_replslot",
            "pg_dynshmem",
            "pg_notify",
            "pg_serial",
            "pg_snapshots",
            "pg_stat_tmp",
            "pg_subtrans");

    /** Those of them that a server expects to find, empty. */
    private static final List<String> EMPTY = List.of(
            "pg_wal/archive_status",
            "pg_wal/summaries",
            "pg_replslot",
            "pg_dynshmem",
            "pg_notify",
            "pg_serial",
            "pg_snapshots",
            "pg_stat_tmp",
            "pg_subtrans");

    private static final String POSITION =
            "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END";

    private final PostgresLauncher postgres = new PostgresLauncher();
    private final ClusterKind kind;

    StandbyLauncher(ClusterKind kind) {
        this.kind = kind;
    }

    @Override
    public String url(ClusterNetwork.Place place) {
        return postgres.url(place.port()).replace(Launcher.HOST, place.host());
    }

    @Override
    public String impatient() {
        return "connectTimeout=2&socketTimeout=5";
    }

    @Override
    public ServerProcess.Signals signals() {
        return postgres.signals();
    }

    @Override
    public void require() {
        Binaries.postgresql();
    }

    @Override
    public void prepare(ClusterMember member) throws IOException {
        postgres.prepare(member.folder());
        Path data = data(member);
        // its own network or the loopback: nobody else gets there
        Files.writeString(
                data.resolve("pg_hba.conf"),
                "\nhost all,replication all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n",
                StandardOpenOption.APPEND);
        if (member.number() > 1) {
            Files.createFile(data.resolve("standby.signal"));
        }
        follow(member, member.cluster().member(1));
    }

    private static Path data(ClusterMember member) {
        return member.folder().resolve("data");
    }

    /** In a file, because what is said on the command line can't be changed before the next start. */
    private static void follow(ClusterMember member, ClusterMember primary) throws IOException {
        ClusterNetwork.Place place = primary.place();
        Files.writeString(
                data(member).resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=" + place.peer() + " port=" + place.port() + " user=" + Launcher.USER
                        + " application_name=" + name(member) + "'\n");
    }

    private static String name(ClusterMember member) {
        return "member" + member.number();
    }

    @Override
    public List<String> command(ClusterMember member) {
        Cluster cluster = member.cluster();
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("listen_addresses", cluster.network().listensAt());
        settings.put("shared_buffers", "32MB");
        settings.put("wal_keep_size", "256MB");
        settings.put("wal_retrieve_retry_interval", "200ms");
        if (kind != ClusterKind.ASYNCHRONOUS) {
            settings.put("synchronous_commit", kind == ClusterKind.REMOTE_APPLY ? "remote_apply" : "on");
            settings.put(
                    "synchronous_standby_names",
                    cluster.members().stream()
                            .map(StandbyLauncher::name)
                            .collect(Collectors.joining(", ", "ANY 1 (", ")")));
        }
        settings.putAll(member.serverSettings());
        List<String> command =
                new ArrayList<>(postgres.command(member.folder(), member.place().port()));
        if (Shell.isRoot()) {
            // or a segment of shared memory would stay behind for each server that is killed
            command.add(1, "--ipc");
        }
        settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        return command;
    }

    /** The standbys find the primary by themselves. */
    @Override
    public void form(Cluster cluster) {}

    @Override
    public void rejoin(ClusterMember member) throws IOException {
        ClusterMember primary = member.cluster().members().stream()
                .filter(other -> other != member && other.isWriter())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Nobody takes writes whom " + member + " could follow"));
        member.endProcess();
        Cache.delete(data(member));
        copy(primary, data(member));
        Files.createFile(data(member).resolve("standby.signal"));
        follow(member, primary);
        member.startProcess(List.of());
        member.awaitAnswer();
    }

    /** As {@code pg_basebackup} does it, which is not among the binaries; the primary goes on meanwhile. */
    private static void copy(ClusterMember primary, Path to) throws IOException {
        try (Connection connection = primary.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_backup_start('copy', true)");
            Files.createDirectory(to);
            Shell.require(List.of("chmod", "700", to.toString()), "");
            List<String> copying = new ArrayList<>(List.of("cp", "-R", "-p"));
            try (Stream<Path> files = Files.list(data(primary))) {
                files.filter(file -> !NOT_COPIED.contains(file.getFileName().toString()))
                        .forEach(file -> copying.add(file.toString()));
            }
            copying.add(to.toString());
            Shell.Result copied = Shell.run(copying, "");
            boolean allThatIsLeft =
                    copied.output().lines().allMatch(line -> line.endsWith("No such file or directory"));
            if (copied.exitCode() != 0 && !allThatIsLeft) {
                throw new IOException(copied.output());
            }
            for (String folder : EMPTY) {
                Path made = Files.createDirectories(to.resolve(folder));
                Shell.require(List.of("chmod", "700", made.toString()), "");
            }
            Files.writeString(
                    to.resolve("backup_label"), Probe.one(connection, "SELECT labelfile FROM pg_backup_stop(false)"));
        } catch (SQLException e) {
            throw new IOException("Cannot copy " + primary + ": " + e.getMessage(), e);
        }
    }

    /** Who follows another now must have received no more than the new primary had; else it is made a new copy by a rejoin. */
    @Override
    public void promote(ClusterMember member) throws IOException {
        try (Connection connection = member.database().dataSource().getConnection()) {
            if (!Probe.one(connection, "SELECT pg_promote(true, 60)").equals("t")) {
                throw new IOException("it is not a primary after a minute\n" + member.log());
            }
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
        for (ClusterMember other : member.cluster().others(member)) {
            if (Files.exists(data(other).resolve("standby.signal"))) {
                follow(other, member);
                other.reload();
            }
        }
    }

    @Override
    public ClusterState state(Connection connection) throws SQLException {
        if (Probe.one(connection, "SELECT pg_is_in_recovery()").equals("t")) {
            String receiver = Probe.one(connection, "SELECT status FROM pg_stat_wal_receiver");
            return new ClusterState(
                    receiver.equals("streaming"), false, 0, "standby, " + (receiver.isEmpty() ? "alone" : receiver));
        }
        int standbys = Integer.parseInt(
                Probe.one(connection, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"));
        return new ClusterState(true, true, 1 + standbys, "primary of " + standbys);
    }

    @Override
    public String position(Connection connection) throws SQLException {
        return Probe.one(connection, "SELECT " + POSITION);
    }

    @Override
    public boolean reached(Connection connection, String position) throws SQLException {
        String shown =
                "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END";
        return Probe.one(connection, "SELECT " + POSITION + " >= '" + position + "'")
                .equals("t");
    }

    @Override
    public Lag lag(ClusterMember member) throws SQLException {
        try (Connection connection = member.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            if (!Probe.one(connection, "SELECT pg_is_in_recovery()").equals("t")) {
                throw new UnsupportedOperationException(member + " has nothing to hold back: it is the primary");
            }
            statement.execute("SELECT pg_wal_replay_pause()");
            Probe.await(connection, "SELECT pg_get_wal_replay_pause_state() = 'paused'", "a standby that lags");
        }
        return () -> {
            try (Connection connection = member.database().dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("SELECT pg_wal_replay_resume()");
            }
        };
    }
}
