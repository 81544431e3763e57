// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Starts PostgreSQL. */
final class PostgresLauncher implements Launcher {

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public String url(int port) {
        return "jdbc:postgresql://" + HOST + ":" + port + "/" + DATABASE;
    }

    @Override
    public String adminUrl(int port) {
        return "jdbc:postgresql://" + HOST + ":" + port + "/postgres";
    }

    @Override
    public List<String> emptying() {
        return List.of("DROP DATABASE IF EXISTS " + DATABASE + " WITH (FORCE)", "CREATE DATABASE " + DATABASE);
    }

    /** SIGINT is a fast shutdown, SIGQUIT an immediate one, which still gives back the shared memory. */
    @Override
    public ServerProcess.Signals signals() {
        return new ServerProcess.Signals("INT", "QUIT");
    }

    @Override
    public void prepare(Path folder) throws IOException {
        Path home = Binaries.postgresql();
        Path bin = home.resolve("bin");
        Path template = Cache.folder(home.getFileName() + "-data", made -> {
            Path data = made.resolve("data");
            List<String> initdb = notAsRoot(bin.resolve("initdb"));
            initdb.addAll(List.of("-D", data.toString(), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"));
            Shell.require(initdb, "");
            List<String> single = notAsRoot(bin.resolve("postgres"));
            single.addAll(List.of("--single", "-D", data.toString(), "-c", "fsync=off", "postgres"));
            Shell.require(single, "CREATE DATABASE " + DATABASE + "\n");
        });
        Launcher.copy(template.resolve("data"), folder.resolve("data"));
    }

    @Override
    public List<String> command(Path folder, int port) {
        Map<String, String> settings = new TreeMap<>();
        settings.put("port", Integer.toString(port));
        settings.put("listen_addresses", HOST);
        settings.put("unix_socket_directories", "");
        settings.put("max_connections", Integer.toString(MAX_CONNECTIONS));
        settings.put("timezone", "Pacific/Chatham");
        settings.put("log_timezone", "Pacific/Chatham");
        // Inside the data folder, so that nothing is left in /dev/shm after a kill.
        settings.put("dynamic_shared_memory_type", "mmap");
        if (!Settings.durable()) {
            // Commits are still handed to the operating system: they survive the death of the server, not that of the
            // machine.
            settings.put("fsync", "off");
            settings.put("full_page_writes", "off");
        }
        List<String> command = notAsRoot(Binaries.postgresql().resolve("bin/postgres"));
        command.addAll(List.of("-D", folder.resolve("data").toString()));
        settings.forEach((key, value) -> command.addAll(List.of("-c", key + "=" + value)));
        return command;
    }

    /** PostgreSQL refuses to run as root; inside a user namespace root is nobody. */
    private static List<String> notAsRoot(Path program) {
        List<String> command = new ArrayList<>();
        if (Shell.isRoot()) {
            command.addAll(List.of("unshare", "-U"));
        }
        command.add(program.toString());
        return command;
    }
}
