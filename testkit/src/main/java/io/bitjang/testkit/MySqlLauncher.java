// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts MySQL. */
final class MySqlLauncher implements Launcher {

    private static final List<String> WITHOUT_KEYS = List.of(
            "--auto-generate-certs=OFF",
            "--sha256-password-auto-generate-rsa-keys=OFF",
            "--caching-sha2-password-auto-generate-rsa-keys=OFF");

    @Override
    public String name() {
        return "mysql";
    }

    @Override
    public String url(int port) {
        return "jdbc:mysql://" + HOST + ":" + port + "/" + DATABASE + "?sslMode=DISABLED&allowPublicKeyRetrieval=true";
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
        Path home = Binaries.mysql();
        Path template = Cache.folder(home.getFileName() + "-data", made -> {
            Progress.say("preparing a data folder for MySQL, once");
            Path users = Files.writeString(made.resolve("users.sql"), users("WITH mysql_native_password BY"));
            List<String> command = base(home, made.resolve("data"));
            command.addAll(List.of("--initialize-insecure", "--init-file=" + users, "--innodb-doublewrite=OFF"));
            command.addAll(List.of("--innodb-redo-log-capacity=16M", "--skip-log-bin"));
            command.add("--innodb-flush-log-at-trx-commit=0");
            Shell.require(command, "");
        });
        Launcher.copy(template.resolve("data"), folder.resolve("data"));
    }

    @Override
    public List<String> command(Path folder, int port) throws IOException {
        List<String> command = base(Binaries.mysql(), folder.resolve("data"));
        command.addAll(List.of(
                "--bind-address=" + HOST,
                "--port=" + port,
                "--socket=mysql.sock",
                "--pid-file=mysql.pid",
                "--mysqlx=OFF",
                "--tls-version=",
                "--skip-name-resolve",
                "--default-time-zone=-08:00",
                "--max-connections=" + MAX_CONNECTIONS,
                // A host that fails many hand-shakes is shut out, and tests with cut connections do just that.
                "--max-connect-errors=1000000"));
        if (!Settings.durable()) {
            command.addAll(relaxed());
            command.addAll(List.of("--innodb-redo-log-capacity=16M", "--innodb-use-native-aio=OFF"));
            // 140 MB for each server instead of 375: a build has up to eight at a time
            command.addAll(List.of("--performance-schema=OFF", "--table-open-cache=256"));
            command.add("--table-definition-cache=400");
        }
        return command;
    }

    /** Commits are still handed to the operating system: they survive the death of the server, not that of the machine. */
    static List<String> relaxed() {
        return List.of("--skip-log-bin", "--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=OFF");
    }

    /** One statement a line, as MariaDB's bootstrap wants them. */
    static String users(String identified) {
        return """
                CREATE DATABASE IF NOT EXISTS bitjang;
                CREATE USER IF NOT EXISTS bitjang@'%' IDENTIFIED %s 'bitjang';
                GRANT ALL PRIVILEGES ON *.* TO bitjang@'%' WITH GRANT OPTION;
                """.replace("%s", identified);
    }

    private static List<String> base(Path home, Path data) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                home.resolve("bin/mysqld").toString(),
                "--no-defaults",
                "--basedir=" + home,
                "--datadir=" + data,
                "--tmpdir=" + Launcher.temporary(data)));
        if (Shell.isRoot()) {
            command.add("--user=root");
        }
        command.addAll(WITHOUT_KEYS);
        return command;
    }
}
