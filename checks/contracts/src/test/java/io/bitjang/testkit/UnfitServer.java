// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** A server of its own that is started differently from the others: a replica, a member of a cluster. */
public final class UnfitServer implements AutoCloseable {

    /** What is different in its folder. */
    private interface Preparation {
        void in(Path folder) throws IOException;
    }

    private final LocalServer server;

    private UnfitServer(LocalServer server) {
        this.server = server;
    }

    /** A PostgreSQL in recovery, as a standby is. */
    public static UnfitServer standby(Path folder) throws IOException {
        return start(new PostgresLauncher(), folder, made -> Files.createFile(made.resolve("data/standby.signal")));
    }

    /** A MariaDB with Galera's replication switched on. */
    public static UnfitServer galera(Path folder) throws IOException {
        return start(new MariaDbLauncher(), folder, made -> {}, "--wsrep-on=ON", "--binlog-format=ROW");
    }

    /** A MariaDB that takes names of databases and tables in any case. */
    public static UnfitServer lowerCaseNames(Path folder) throws IOException {
        return start(new MariaDbLauncher(), folder, made -> {}, "--lower-case-table-names=1");
    }

    private static UnfitServer start(Launcher ordinary, Path folder, Preparation preparation, String... options)
            throws IOException {
        Launcher launcher = new Launcher() {
            @Override
            public String name() {
                return ordinary.name() + "-unfit";
            }

            @Override
            public String url(int port) {
                return ordinary.url(port);
            }

            @Override
            public List<String> emptying() {
                return ordinary.emptying();
            }

            @Override
            public ServerProcess.Signals signals() {
                return ordinary.signals();
            }

            @Override
            public void prepare(Path made) throws IOException {
                ordinary.prepare(made);
                preparation.in(made);
            }

            @Override
            public List<String> command(Path made, int port) throws IOException {
                List<String> command = new ArrayList<>(ordinary.command(made, port));
                command.addAll(List.of(options));
                return command;
            }
        };
        RunFolders folders = new RunFolders(folder);
        return new UnfitServer(LocalServer.start(launcher, () -> folders.create(launcher.name()), null));
    }

    /** Each connection is a new one. */
    public DataSource dataSource() {
        return new DriverDataSource(server.url(), Launcher.USER, Launcher.PASSWORD);
    }

    /** The same, with the name of the database spelled in another way. */
    public DataSource dataSource(UnaryOperator<String> spelling) {
        String url = server.url().replace("/" + Launcher.DATABASE, "/" + spelling.apply(Launcher.DATABASE));
        return new DriverDataSource(url, Launcher.USER, Launcher.PASSWORD);
    }

    @Override
    public void close() {
        server.end();
    }
}
