// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.places;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A Redis of our own, from the {@code redis-server} of the machine. It ends with this JVM. */
final class RedisServer implements AutoCloseable {

    private static final String MISSING = "There is no redis-server on the path (Debian: apt-get install redis-server)";

    private final Process process;
    private final Path folder;
    private final int port;

    private RedisServer(Process process, Path folder, int port) {
        this.process = process;
        this.folder = folder;
        this.port = port;
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    static RedisServer start(List<String> settings) throws Exception {
        Path folder = Files.createTempDirectory("bitjang-redis");
        int port = freePort();
        List<String> command =
                new ArrayList<>(List.of("redis-server", "--bind", "127.0.0.1", "--port", Integer.toString(port)));
        command.addAll(List.of("--dir", folder.toString()));
        command.addAll(settings);
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile())
                    .start();
        } catch (IOException e) {
            throw new Places.MissingException(MISSING);
        }
        RedisServer server = new RedisServer(process, folder, port);
        server.awaitReady();
        return server;
    }

    String address() {
        return "redis://127.0.0.1:" + port;
    }

    private void awaitReady() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (true) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return;
            } catch (IOException e) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new IllegalStateException(
                            "Redis did not start:\n" + Files.readString(folder.resolve("log")), e);
                }
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() throws Exception {
        process.destroy();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }
}
