// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Starts MariaDB with Galera, from the packages of the system. The members begin as those of a cluster whose machines were all switched
 * off at the same moment: they find each other again, and none has to copy from another.
 */
final class GaleraLauncher implements ClusterLauncher {

    /** The identity of the data that all members begin with. */
    private static final String HISTORY = "6a0d1c1e-0000-11ef-8000-000000000000";

    private static final String COMMITTED = "SHOW STATUS LIKE 'wsrep_last_committed'";
    private static final Pattern VERSION = Pattern.compile("Ver ([0-9.]+)");
    private static final Pattern RECOVERED = Pattern.compile("WSREP: Recovered position: (\\S+)");

    @Override
    public String url(ClusterNetwork.Place place) {
        return "jdbc:mariadb://" + place.host() + ":" + place.port() + "/" + Launcher.DATABASE + "?sslMode=disable";
    }

    @Override
    public String impatient() {
        return "connectTimeout=2000&socketTimeout=5000";
    }

    @Override
    public ServerProcess.Signals signals() {
        return new ServerProcess.Signals("TERM", "KILL");
    }

    @Override
    public void require() {
        GaleraFiles.server();
        GaleraFiles.provider();
    }

    @Override
    public void prepare(ClusterMember member) throws IOException {
        Launcher.copy(template().resolve("data"), member.folder().resolve("data"));
        Path copying = Files.createDirectory(scripts(member)).resolve("wsrep_sst_copy");
        Files.writeString(copying, GaleraFiles.COPYING);
        Files.setPosixFilePermissions(copying, PosixFilePermissions.fromString("rwxr-xr-x"));
        StringBuilder view = new StringBuilder(
                "my_uuid: " + identity(member.number()) + "\n#vwbeg\nview_id: 3 " + identity(1) + " 1\nbootstrap: 0\n");
        for (int number = 1; number <= Cluster.MEMBERS; number++) {
            view.append("member: ").append(identity(number)).append(" 0\n");
        }
        Files.writeString(member.folder().resolve("data/gvwstate.dat"), view.append("#vwend\n"));
    }

    private static String identity(int number) {
        return "0000000" + number + "-0000-11ef-8000-000000000000";
    }

    private static Path template() throws IOException {
        Path server = GaleraFiles.server();
        String said = Shell.run(List.of(server.toString(), "--no-defaults", "--version"), "")
                .output();
        Matcher version = VERSION.matcher(said);
        if (!version.find()) {
            throw new IOException(server + " does not tell its version: " + said);
        }
        return Cache.folder("galera-" + version.group(1) + "-data", made -> {
            Path data = Files.createDirectory(made.resolve("data"));
            List<String> command = base(data);
            command.addAll(List.of("--bootstrap", "--skip-networking", "--wsrep-on=OFF"));
            command.addAll(List.of("--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=0"));
            Shell.require(command, GaleraFiles.systemTables() + "FLUSH PRIVILEGES;\n" + MySqlLauncher.users("BY"));
            Files.writeString(
                    data.resolve("grastate.dat"),
                    "# GALERA saved state\nversion: 2.1\nuuid:    " + HISTORY + "\nseqno:   0\nsafe_to_bootstrap: 0\n");
        });
    }

    /** Where the server looks for the script that copies a member's data to another. */
    @Override
    public Map<String, String> environment(ClusterMember member) {
        return Map.of("PATH", scripts(member) + ":" + System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
    }

    private static Path scripts(ClusterMember member) {
        return member.folder().resolve("bin");
    }

    @Override
    public List<String> command(ClusterMember member) throws IOException {
        Cluster cluster = member.cluster();
        ClusterNetwork.Place place = member.place();
        Path data = member.folder().resolve("data");
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("bind-address", cluster.network().listensAt());
        settings.put("port", Integer.toString(place.port()));
        settings.put("socket", "mariadb.sock");
        settings.put("pid-file", "mariadb.pid");
        settings.put("skip-name-resolve", "ON");
        settings.put("default-time-zone", "+05:45");
        settings.put("max-connections", Integer.toString(Launcher.MAX_CONNECTIONS));
        settings.put("max-connect-errors", "1000000");
        settings.put("binlog-format", "ROW");
        settings.put("innodb-autoinc-lock-mode", "2");
        settings.put("innodb-log-file-size", "16M");
        settings.put("innodb-buffer-pool-size", "32M");
        if (!Settings.durable()) {
            settings.put("innodb-flush-log-at-trx-commit", "2");
            settings.put("innodb-doublewrite", "OFF");
        }
        // for a trigger that only one member has: see lag()
        settings.put("slave-run-triggers-for-rbr", "YES");
        settings.put("wsrep-on", "ON");
        settings.put("wsrep-provider", GaleraFiles.provider().toString());
        settings.put("wsrep-cluster-name", "bitjang");
        settings.put(
                "wsrep-cluster-address",
                cluster.members().stream()
                        .map(each -> each.place().peerAddress())
                        .collect(Collectors.joining(",", "gcomm://", "")));
        settings.put("wsrep-node-name", "member" + member.number());
        settings.put("wsrep-node-address", place.peerAddress());
        settings.put("wsrep-sst-method", "copy");
        String options = "gmcast.listen_addr=tcp://" + place.peerAddress() + ";ist.recv_addr=" + place.peer() + ":"
                + place.transferPort() + ";gcache.size=64M";
        member.serverSettings().forEach((name, value) -> settings.put(name.replace('_', '-'), value));
        settings.merge("wsrep-provider-options", options, (given, ours) -> ours + ";" + given);
        List<String> command = base(data);
        settings.forEach((name, value) -> command.add("--" + name + "=" + value));
        return command;
    }

    private static List<String> base(Path data) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                GaleraFiles.server().toString(),
                "--no-defaults",
                "--datadir=" + data,
                "--tmpdir=" + Launcher.temporary(data),
                "--lc-messages-dir=" + GaleraFiles.share().resolve("english")));
        if (Shell.isRoot()) {
            command.add("--user=root");
        }
        return command;
    }

    /** They find each other by themselves. */
    @Override
    public void form(Cluster cluster) {}

    /** What it lacks is sent by another, as far as that still has it; else it gets a copy of all data. */
    @Override
    public void rejoin(ClusterMember member) throws IOException {
        member.endProcess();
        member.startProcess(position(member));
        member.awaitAnswer();
    }

    /** After a kill only the tables know how far they got, and the server tells it if asked in a run of its own. */
    private List<String> position(ClusterMember member) throws IOException {
        Path saved = member.folder().resolve("data/grastate.dat");
        if (!Files.exists(saved) || !Files.readString(saved).contains("seqno:   -1")) {
            return List.of();
        }
        List<String> command = new ArrayList<>(command(member));
        command.add("--wsrep-recover");
        String said = Shell.run(command, "").output();
        Matcher found = RECOVERED.matcher(said);
        if (!found.find()) {
            throw new IOException("the server does not tell how far its data are: " + said);
        }
        return List.of("--wsrep-start-position=" + found.group(1));
    }

    @Override
    public void promote(ClusterMember member) {
        throw new UnsupportedOperationException("Every member of Galera takes writes");
    }

    /** A member outside of the cluster answers nothing but this. */
    @Override
    public ClusterState state(Connection connection) throws SQLException {
        Map<String, String> status = Probe.map(connection, "SHOW STATUS LIKE 'wsrep\\_%'");
        boolean ready = "ON".equals(status.get("wsrep_ready"));
        // one that gives its data to another, or lags, is no less a member
        boolean synced =
                ready && status.getOrDefault("wsrep_local_state_comment", "").matches("Synced|Donor/Desynced");
        int members = Integer.parseInt(status.getOrDefault("wsrep_cluster_size", "0"));
        return new ClusterState(
                synced,
                ready,
                members,
                status.get("wsrep_local_state_comment") + ", " + status.get("wsrep_cluster_status") + " of " + members);
    }

    @Override
    public String position(Connection connection) throws SQLException {
        return Probe.map(connection, COMMITTED).getOrDefault("wsrep_last_committed", "0");
    }

    @Override
    public boolean reached(Connection connection, String position) throws SQLException {
        return Long.parseLong(position(connection)) >= Long.parseLong(position);
    }

    /**
     * The applier waits in a trigger for a lock that we have. What follows has to wait for it, in order. A member that is behind would
     * soon ask the others to write no more; one that is desynchronised doesn't.
     */
    @Override
    public Lag lag(ClusterMember member) throws SQLException {
        ClusterMember other = member.cluster().others(member).stream()
                .filter(ClusterMember::isOnline)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("There is nobody whose writes " + member + " could miss"));
        member.execute("CREATE DATABASE IF NOT EXISTS bitjang_testkit");
        member.execute("CREATE TABLE IF NOT EXISTS bitjang_testkit.held_back(n INT AUTO_INCREMENT PRIMARY KEY)");
        Connection holder = member.database().dataSource().getConnection();
        // the one that has the lock runs nothing meanwhile: the applier would make it give way
        try (Statement statement = holder.createStatement();
                Connection watching = member.connect()) {
            statement.execute("SET SESSION wsrep_on = OFF");
            statement.execute(
                    "CREATE OR REPLACE TRIGGER bitjang_testkit.hold BEFORE INSERT ON bitjang_testkit.held_back"
                            + " FOR EACH ROW BEGIN DO GET_LOCK('bitjang_testkit', 86400); DO RELEASE_LOCK('bitjang_testkit'); END");
            statement.execute("SET SESSION wsrep_on = ON");
            statement.execute("SET GLOBAL wsrep_desync = ON");
            statement.execute("DO GET_LOCK('bitjang_testkit', 60)");
            other.execute("INSERT INTO bitjang_testkit.held_back VALUES ()");
            Probe.await(
                    watching,
                    "SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE state = 'User lock'",
                    "a member that lags");
        } catch (SQLException | RuntimeException e) {
            holder.close();
            throw e;
        }
        return () -> {
            try (holder;
                    Statement statement = holder.createStatement()) {
                statement.execute("DO RELEASE_LOCK('bitjang_testkit')");
                Probe.await(
                        holder,
                        "SELECT variable_value = 0 FROM information_schema.global_status"
                                + " WHERE variable_name = 'WSREP_LOCAL_RECV_QUEUE'",
                        "a member that catches up");
                statement.execute("SET GLOBAL wsrep_desync = OFF");
                statement.execute("SET SESSION wsrep_on = OFF");
                statement.execute("DROP TRIGGER bitjang_testkit.hold");
            }
        };
    }
}
