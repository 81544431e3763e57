// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A server that was started for this JVM. Thread-safe. */
final class LocalServer {

    static final Duration START = Duration.ofSeconds(180);
    private static final Duration PORT_PATIENCE = Duration.ofSeconds(30);
    private static final int PORTS_TO_TRY = 3;
    private static final String PORT = "port";
    private static final String IN_ORDER = "left-in-order";

    private final ReentrantLock lock = new ReentrantLock();
    private final Launcher launcher;
    private final Path folder;
    private final int port;
    private final @Nullable OsProcess owner;
    private ServerProcess process;

    private LocalServer(Launcher launcher, Path folder, int port, @Nullable OsProcess owner, ServerProcess process) {
        this.launcher = launcher;
        this.folder = folder;
        this.port = port;
        this.owner = owner;
        this.process = process;
    }

    /** Where a new server is put. */
    @FunctionalInterface
    interface Home {
        Path create() throws IOException;
    }

    /** @param owner the process with which it ends, or null for this JVM */
    static LocalServer start(Launcher launcher, Home home, @Nullable OsProcess owner) {
        long begin = System.nanoTime();
        try {
            for (int attempt = 1; ; attempt++) {
                Path folder = home.create();
                launcher.prepare(folder);
                int port = Ports.free();
                ServerProcess process =
                        ServerProcess.start(folder, launcher.signals(), owner, launcher.command(folder, port));
                try {
                    awaitReady(launcher, folder, port, process);
                } catch (IOException e) {
                    process.end();
                    if (attempt == PORTS_TO_TRY || !portWasTaken(e)) {
                        throw e;
                    }
                    continue;
                }
                Progress.say(launcher.name() + " runs on port " + port + " after " + Progress.since(begin));
                Files.writeString(folder.resolve(PORT), Integer.toString(port));
                return new LocalServer(launcher, folder, port, owner, process);
            }
        } catch (IOException e) {
            throw new TestDatabaseException("Cannot start " + launcher.name() + ": " + e.getMessage(), e);
        }
    }

    /** The server that another JVM has started there, ready or not; empty if none runs. */
    static Optional<LocalServer> attached(Launcher launcher, Path folder, OsProcess owner) {
        return ServerProcess.attached(folder, launcher.signals())
                .map(process -> new LocalServer(launcher, folder, portIn(folder), owner, process));
    }

    private static int portIn(Path folder) {
        try {
            return Integer.parseInt(Files.readString(folder.resolve(PORT)));
        } catch (IOException | NumberFormatException e) {
            return 0; // it was not ready when its JVM ended, and so it was not left in order
        }
    }

    /** Whether the JVM that used it last has ended of itself; from now on it is in use. */
    boolean wasLeftInOrder() {
        try {
            return Files.deleteIfExists(folder.resolve(IN_ORDER));
        } catch (IOException e) {
            return false;
        }
    }

    String url() {
        return launcher.url(port);
    }

    int port() {
        return port;
    }

    Path folder() {
        return folder;
    }

    void restart(TestDatabase database) {
        lock.lock();
        try {
            if (process.isAlive()) {
                launcher.beforeStop(database);
            }
            process.stop();
            startAgain();
        } catch (IOException e) {
            throw new TestDatabaseException("Cannot restart " + launcher.name() + ": " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    /** At the same port, because pools and proxies know it: if someone else was quicker, it waits until they have gone. */
    private void startAgain() throws IOException {
        List<String> command = launcher.command(folder, port);
        long deadline = System.nanoTime() + PORT_PATIENCE.toNanos();
        while (!Ports.isFree(port)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("another program listens on its port " + port);
            }
            pause();
        }
        process = ServerProcess.start(folder, launcher.signals(), owner, command);
        awaitReady(launcher, folder, port, process);
    }

    /** This JVM ends, and with it the server, unless others may use it. */
    void leave() {
        if (owner == null) {
            end();
            return;
        }
        try {
            Files.createFile(folder.resolve(IN_ORDER));
        } catch (IOException e) {
            Progress.say("cannot leave " + launcher.name() + " to others: " + e);
        }
    }

    void end() {
        lock.lock();
        try {
            process.end();
        } catch (IOException e) {
            Progress.say("cannot end " + launcher.name() + ": " + e);
        } finally {
            lock.unlock();
        }
    }

    private static void awaitReady(Launcher launcher, Path folder, int port, ServerProcess process) throws IOException {
        DataSource source = new DriverDataSource(launcher.url(port), Launcher.USER, Launcher.PASSWORD);
        long deadline = System.nanoTime() + START.toNanos();
        @Nullable SQLException last = null;
        while (process.isAlive() && System.nanoTime() < deadline) {
            if (listens(port)) {
                try (Connection ignored = source.getConnection()) {
                    return;
                } catch (SQLException e) {
                    last = e;
                }
            }
            pause();
        }
        String state = process.isAlive() ? "does not answer after " + START.toSeconds() + " seconds" : "ended";
        throw new IOException("the server " + state + "\n" + ServerProcess.logTail(folder), last);
    }

    /** A refused connection is cheaper than a driver that fails to connect, and not logged by the server. */
    private static boolean listens(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(Launcher.HOST, port), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the server started", e);
        }
    }

    static boolean portWasTaken(IOException e) {
        String message = String.valueOf(e.getMessage());
        return message.contains("Address already in use") || message.contains("port is already in use");
    }
}
