// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;
import org.postgresql.ds.PGSimpleDataSource;

/** PgBouncer before a PostgreSQL of the tests. */
final class PgBouncer implements AutoCloseable {

    private static final List<Path> PLACES =
            List.of(Path.of("/usr/sbin/pgbouncer"), Path.of("/usr/bin/pgbouncer"), Path.of("/usr/local/bin/pgbouncer"));

    private final TestDatabase database;
    private final Process process;
    private final int port;

    private PgBouncer(TestDatabase database, Process process, int port) {
        this.database = database;
        this.process = process;
        this.port = port;
    }

    /** @param mode {@code transaction} or {@code session} */
    static PgBouncer start(TestDatabase database, Path folder, String mode) throws Exception {
        int port = freePort();
        Path settings = folder.resolve("pgbouncer.ini");
        Files.writeString(settings, """
            [databases]
            * = host=%s port=%s user=%s
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %s
            unix_socket_dir =
            auth_type = any
            pool_mode = %s
            default_pool_size = 5
            ignore_startup_parameters = extra_float_digits
            """.formatted("127.0.0.1", database.port(), database.user(), port, mode));
        List<String> command = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            // it refuses to run as root; inside a user namespace root is nobody
            command.addAll(List.of("unshare", "-U"));
        }
        command.addAll(List.of(program().toString(), settings.toString()));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("pgbouncer.log").toFile())
                .start();
        PgBouncer bouncer = new PgBouncer(database, process, port);
        bouncer.untilItListens(folder.resolve("pgbouncer.log"));
        return bouncer;
    }

    /** The same with the driver's defaults. */
    PGSimpleDataSource carelessDataSource() {
        PGSimpleDataSource source = dataSource();
        source.setPrepareThreshold(5);
        return source;
    }

    /** Each connection is one of the pooler's. */
    PGSimpleDataSource dataSource() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port});
        source.setDatabaseName(database.jdbcUrl().substring(database.jdbcUrl().lastIndexOf('/') + 1));
        source.setUser(database.user());
        // a statement that the server keeps is of no use when the next runs elsewhere
        source.setPrepareThreshold(0);
        return source;
    }

    private void untilItListens(Path log) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
                return;
            } catch (IOException e) {
                if (!process.isAlive() || System.nanoTime() > end) {
                    throw new IllegalStateException("PgBouncer does not listen: " + Files.readString(log), e);
                }
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
    }

    private static Path program() {
        return PLACES.stream().filter(Files::isExecutable).findFirst().orElseThrow(() -> {
            String message = "No pgbouncer for a test with a pooler: install the package pgbouncer";
            if (Boolean.getBoolean("bitjang.ci")) {
                return new IllegalStateException(message);
            }
            System.err.println("SKIPPED: " + message);
            return new TestAbortedException(message);
        });
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() throws Exception {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();
    }
}
