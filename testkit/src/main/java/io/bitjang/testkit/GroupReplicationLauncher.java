// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Starts MySQL with Group Replication. */
final class GroupReplicationLauncher implements ClusterLauncher {

    private static final String GROUP = "6a0d1c1e-0000-11ef-8000-000000000000";

    /** The performance schema tells who is a member, and would take 170 MB in each server for everything else. */
    private static final List<String> LITTLE_TO_OBSERVE = List.of(
            "accounts-size",
            "hosts-size",
            "users-size",
            "digests-size",
            "error-size",
            "events-statements-history-long-size",
            "events-waits-history-long-size",
            "events-stages-history-long-size",
            "events-transactions-history-long-size",
            "max-sql-text-length",
            "max-digest-length",
            "max-memory-classes",
            "max-statement-classes",
            "max-stage-classes",
            "max-file-instances",
            "max-index-stat");

    private final Launcher mysql = new MySqlLauncher();
    private final boolean everybodyWrites;

    GroupReplicationLauncher(ClusterKind kind) {
        this.everybodyWrites = kind == ClusterKind.MULTI_PRIMARY;
    }

    @Override
    public String url(ClusterNetwork.Place place) {
        return mysql.url(place.port()).replace(Launcher.HOST, place.host());
    }

    @Override
    public String impatient() {
        return "connectTimeout=2000&socketTimeout=5000";
    }

    @Override
    public ServerProcess.Signals signals() {
        return mysql.signals();
    }

    @Override
    public void require() {
        Binaries.mysql();
    }

    @Override
    public void prepare(ClusterMember member) throws IOException {
        mysql.prepare(member.folder());
        Files.writeString(member.folder().resolve("data/auto.cnf"), "[auto]\nserver-uuid=" + identity(member) + "\n");
    }

    private static String identity(ClusterMember member) {
        return "0000000" + member.number() + "-0000-11ef-8000-000000000000";
    }

    @Override
    public List<String> command(ClusterMember member) throws IOException {
        Cluster cluster = member.cluster();
        ClusterNetwork.Place place = member.place();
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("bind-address", cluster.network().listensAt());
        settings.put("innodb-buffer-pool-size", "32M");
        settings.put("performance-schema", "ON");
        LITTLE_TO_OBSERVE.forEach(name -> settings.put("performance-schema-" + name, "0"));
        settings.put("performance-schema-max-table-instances", "200");
        settings.put("performance-schema-max-table-handles", "500");
        settings.put("performance-schema-max-thread-instances", "400");
        settings.put("server-id", Integer.toString(member.number()));
        settings.put("gtid-mode", "ON");
        settings.put("enforce-gtid-consistency", "ON");
        settings.put("log-bin", "binlog");
        settings.put("relay-log", "relay");
        settings.put("sync-binlog", Settings.durable() ? "1" : "0");
        settings.put("report-host", place.peer());
        settings.put("report-port", Integer.toString(place.port()));
        settings.put("plugin-load-add", "group_replication.so");
        settings.put("group-replication-group-name", GROUP);
        settings.put("group-replication-start-on-boot", "OFF");
        settings.put("group-replication-single-primary-mode", everybodyWrites ? "OFF" : "ON");
        settings.put("group-replication-enforce-update-everywhere-checks", everybodyWrites ? "ON" : "OFF");
        settings.put("group-replication-local-address", place.peerAddress());
        settings.put(
                "group-replication-group-seeds",
                cluster.members().stream()
                        .map(each -> each.place().peerAddress())
                        .collect(Collectors.joining(",")));
        settings.put("group-replication-ip-allowlist", "127.0.0.0/8,10.77.0.0/24");
        settings.put("group-replication-message-cache-size", "134217728");
        // 60 seconds by default, when the first attempt to get what is missing comes too early
        settings.put("group-replication-recovery-reconnect-interval", "2");
        member.serverSettings().forEach((name, value) -> settings.put(name.replace('_', '-'), value));
        List<String> command = new ArrayList<>(mysql.command(member.folder(), place.port()));
        settings.forEach((name, value) -> command.add("--" + name + "=" + value));
        return command;
    }

    /** The first member is the group; the others join at the same time. */
    @Override
    public void form(Cluster cluster) throws IOException {
        for (ClusterMember member : cluster.members()) {
            member.awaitAnswer();
        }
        ClusterMember first = cluster.member(1);
        first.execute("SET GLOBAL group_replication_bootstrap_group = ON");
        join(first);
        first.execute("SET GLOBAL group_replication_bootstrap_group = OFF");
        cluster.others(first).parallelStream().forEach(GroupReplicationLauncher::join);
    }

    private static void join(ClusterMember member) {
        member.execute(
                "START GROUP_REPLICATION USER = '" + Launcher.USER + "', PASSWORD = '" + Launcher.PASSWORD + "'");
    }

    @Override
    public void rejoin(ClusterMember member) throws IOException {
        if (!member.isRunning()) {
            member.startProcess(List.of());
            member.awaitAnswer();
            awaitForgotten(member);
        } else {
            member.execute("STOP GROUP_REPLICATION");
        }
        join(member);
    }

    /** As long as the others know it from before, they don't let it in, and it would ask again only much later. */
    private static void awaitForgotten(ClusterMember member) throws IOException {
        for (ClusterMember other : member.cluster().others(member)) {
            if (!other.isOnline()) {
                continue;
            }
            try (Connection connection = other.connect()) {
                Probe.await(
                        connection,
                        "SELECT COUNT(*) = 0 FROM performance_schema.replication_group_members WHERE member_id = '"
                                + identity(member) + "'",
                        "a group without " + member);
                return;
            } catch (SQLException e) {
                throw new IOException(e.getMessage(), e);
            }
        }
    }

    @Override
    public void promote(ClusterMember member) throws IOException {
        if (everybodyWrites) {
            throw new UnsupportedOperationException("Every member of this group takes writes");
        }
        member.execute("DO group_replication_set_as_primary(@@server_uuid)");
    }

    @Override
    public ClusterState state(Connection connection) throws SQLException {
        boolean online = false;
        boolean primary = false;
        int members = 0;
        StringBuilder text = new StringBuilder();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT member_port, member_state, member_role,"
                        + " member_id = @@server_uuid, @@super_read_only FROM performance_schema.replication_group_members"
                        + " ORDER BY member_id")) {
            while (rows.next()) {
                boolean isOnline = "ONLINE".equals(rows.getString(2));
                members += isOnline ? 1 : 0;
                if (rows.getBoolean(4)) {
                    online = isOnline;
                    primary = isOnline && "PRIMARY".equals(rows.getString(3)) && !rows.getBoolean(5);
                }
                text.append(text.isEmpty() ? "" : ", ")
                        .append(rows.getBoolean(4) ? "itself" : rows.getString(1))
                        .append(' ')
                        .append(rows.getString(2))
                        .append(' ')
                        .append(rows.getString(3));
            }
        }
        return new ClusterState(online, primary, members, text.toString());
    }

    @Override
    public String position(Connection connection) throws SQLException {
        return Probe.one(connection, "SELECT @@gtid_executed").replaceAll("\\s", "");
    }

    @Override
    public boolean reached(Connection connection, String position) throws SQLException {
        return Probe.one(connection, "SELECT GTID_SUBSET('" + position + "', @@gtid_executed)")
                .equals("1");
    }

    /**
     * The appliers wait for a table that we have locked: as many of them as there are, and what follows waits for one of them. A member
     * that is behind would ask the others to write less; it is told not to.
     */
    @Override
    public Lag lag(ClusterMember member) throws SQLException {
        ClusterMember writer = member.cluster().others(member).stream()
                .filter(ClusterMember::isWriter)
                .findFirst()
                .orElseThrow(() -> new UnsupportedOperationException(
                        member + " has nothing to hold back: nobody else takes writes"));
        writer.execute("CREATE DATABASE IF NOT EXISTS bitjang_testkit");
        writer.execute("CREATE TABLE IF NOT EXISTS bitjang_testkit.held_back(n INT AUTO_INCREMENT PRIMARY KEY)");
        Connection holder = member.database().dataSource().getConnection();
        try (Statement statement = holder.createStatement()) {
            Probe.await(
                    holder,
                    "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_name = 'held_back'",
                    "the table bitjang_testkit.held_back");
            int appliers = Integer.parseInt(Probe.one(holder, "SELECT @@replica_parallel_workers"));
            statement.execute("SET GLOBAL group_replication_flow_control_mode = DISABLED");
            statement.execute("LOCK TABLES bitjang_testkit.held_back READ");
            for (int i = 0; i < Math.max(1, appliers); i++) {
                writer.execute("INSERT INTO bitjang_testkit.held_back VALUES ()");
            }
            Probe.await(
                    holder,
                    "SELECT COUNT(*) > 0 FROM information_schema.processlist"
                            + " WHERE state = 'Waiting for table metadata lock'",
                    "a member that lags");
        } catch (SQLException | RuntimeException e) {
            holder.close();
            throw e;
        }
        return () -> {
            try (holder;
                    Statement statement = holder.createStatement()) {
                statement.execute("UNLOCK TABLES");
                statement.execute("SET GLOBAL group_replication_flow_control_mode = QUOTA");
            }
        };
    }
}
