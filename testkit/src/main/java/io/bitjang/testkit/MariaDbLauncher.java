// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts MariaDB. */
final class MariaDbLauncher implements Launcher {

    private static final List<String> SYSTEM_TABLES =
            List.of("mariadb_system_tables.sql", "mariadb_performance_tables.sql", "mariadb_system_tables_data.sql");

    @Override
    public String name() {
        return "mariadb";
    }

    @Override
    public String url(int port) {
        return "jdbc:mariadb://" + HOST + ":" + port + "/" + DATABASE + "?sslMode=disable";
    }

    @Override
    public List<String> emptying() {
        return List.of("DROP DATABASE IF EXISTS " + DATABASE, "CREATE DATABASE " + DATABASE);
    }

    @Override
    public ServerProcess.Signals signals() {
        return new ServerProcess.Signals("TERM", "KILL");
    }

    @Override
    public void prepare(Path folder) throws IOException {
        Path home = Binaries.mariadb();
        Path template = Cache.folder(home.getFileName() + "-data", made -> {
            StringBuilder script =
                    new StringBuilder("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n");
            for (String file : SYSTEM_TABLES) {
                script.append(Shell.read(home.resolve("share").resolve(file))).append('\n');
            }
            Path data = Files.createDirectory(made.resolve("data"));
            List<String> command = base(home, data);
            command.addAll(List.of("--bootstrap", "--skip-networking", "--innodb-log-file-size=16M"));
            command.add("--innodb-flush-log-at-trx-commit=0");
            Shell.require(command, script.toString());
        });
        Launcher.copy(template.resolve("data"), folder.resolve("data"));
        Files.writeString(folder.resolve("users.sql"), MySqlLauncher.users("BY"));
    }

    @Override
    public List<String> command(Path folder, int port) throws IOException {
        List<String> command = base(Binaries.mariadb(), folder.resolve("data"));
        command.addAll(List.of(
                "--init-file=" + folder.resolve("users.sql"),
                "--bind-address=" + HOST,
                "--port=" + port,
                "--socket=mariadb.sock",
                "--pid-file=mariadb.pid",
                "--skip-ssl",
                "--skip-name-resolve",
                "--default-time-zone=+05:45",
                "--max-connections=" + MAX_CONNECTIONS,
                "--max-connect-errors=1000000"));
        if (!Settings.durable()) {
            command.addAll(MySqlLauncher.relaxed());
            command.add("--innodb-log-file-size=16M");
        }
        return command;
    }

    private static List<String> base(Path home, Path data) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                home.resolve("bin/mariadbd").toString(),
                "--no-defaults",
                "--basedir=" + home,
                "--datadir=" + data,
                // not a folder of all servers: one that starts removes the temporary tables of the others, which crash
                "--tmpdir=" + Launcher.temporary(data),
                "--lc-messages-dir=" + home.resolve("share/english")));
        if (Shell.isRoot()) {
            command.add("--user=root");
        }
        return command;
    }
}
