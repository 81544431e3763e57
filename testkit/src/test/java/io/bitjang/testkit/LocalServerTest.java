// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that does not start at once, or not at all. */
@Timeout(60)
class LocalServerTest {

    @TempDir
    Path folder;

    @Test
    void another_port_is_tried_when_someone_was_quicker() throws IOException {
        RunFolders folders = new RunFolders(folder);
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(Launcher.HOST))) {
            AtomicInteger starts = new AtomicInteger();
            LocalServer server = LocalServer.start(
                    new Altered() {
                        @Override
                        public List<String> command(Path made, int port) throws IOException {
                            return super.command(made, starts.incrementAndGet() == 1 ? taken.getLocalPort() : port);
                        }
                    },
                    () -> folders.create("h2"),
                    null);
            try {
                assertThat(starts).hasValue(2);
                assertThat(WatchdogTest.listens(server.port())).isTrue();
            } finally {
                server.end();
            }
        }
    }

    @Test
    void no_connection_gets_the_port_of_a_server_or_a_proxy() throws IOException {
        String range = Files.readAllLines(Path.of("/proc/sys/net/ipv4/ip_local_port_range"))
                .get(0);
        int lowest = Integer.parseInt(range.split("\\s+")[0]);
        assumeTrue(lowest >= 32_000, "this system gives any port to connections");
        RunFolders folders = new RunFolders(folder);
        LocalServer server = LocalServer.start(new Altered(), () -> folders.create("h2"), null);
        try (TcpProxy proxy = TcpProxy.to(Launcher.HOST, server.port())) {
            assertThat(List.of(server.port(), proxy.port()))
                    .allSatisfy(port -> assertThat(port).isLessThan(lowest));
        } finally {
            server.end();
        }
    }

    @Test
    void restart_waits_until_whoever_took_the_port_has_gone() throws Exception {
        RunFolders folders = new RunFolders(folder);
        AtomicInteger starts = new AtomicInteger();
        LocalServer server = LocalServer.start(
                new Altered() {
                    @Override
                    public List<String> command(Path made, int port) throws IOException {
                        if (starts.incrementAndGet() == 2) {
                            takeForAWhile(port);
                        }
                        return super.command(made, port);
                    }
                },
                () -> folders.create("h2"),
                null);
        try {
            DriverDataSource source = new DriverDataSource(server.url(), Launcher.USER, Launcher.PASSWORD);
            server.restart(new JdbcDatabase("h2", source, ignored -> {}));
            try (Connection connection = source.getConnection()) {
                assertThat(connection.isValid(5)).isTrue();
            }
        } finally {
            server.end();
        }
    }

    /** By someone who takes connections and never answers. */
    private static void takeForAWhile(int port) throws IOException {
        // the threads of a server that was killed may still hold it for a moment
        while (!Ports.isFree(port)) {
            Thread.onSpinWait();
        }
        ServerSocket taken = new ServerSocket(port, 1, InetAddress.getByName(Launcher.HOST));
        CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS).execute(() -> {
            try {
                taken.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void server_that_ends_at_once_is_told_with_its_last_lines() throws IOException {
        RunFolders folders = new RunFolders(folder);
        Launcher broken = new Altered() {
            @Override
            public List<String> command(Path made, int port) {
                return List.of("sh", "-c", "echo 'data folder is damaged' >&2; exit 3");
            }
        };
        assertThatThrownBy(() -> LocalServer.start(broken, () -> folders.create("h2"), null))
                .isInstanceOf(TestDatabaseException.class)
                .hasMessageContaining("Cannot start h2")
                .hasMessageContaining("data folder is damaged");
    }

    /** H2's, as far as a test leaves it alone. */
    private static class Altered implements Launcher {

        private final Launcher h2 = new H2Launcher();

        @Override
        public String name() {
            return h2.name();
        }

        @Override
        public String url(int port) {
            return h2.url(port);
        }

        @Override
        public List<String> emptying() {
            return h2.emptying();
        }

        @Override
        public ServerProcess.Signals signals() {
            return h2.signals();
        }

        @Override
        public void prepare(Path made) throws IOException {
            h2.prepare(made);
        }

        @Override
        public List<String> command(Path made, int port) throws IOException {
            return h2.command(made, port);
        }
    }
}
