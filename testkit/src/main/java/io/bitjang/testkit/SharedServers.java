// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers that the JVMs of one build use one after the other. Each JVM has a server to itself, which it may stop or change the
 * settings of, from the moment it asks for it until it ends; then the next JVM takes it over, with an empty database. So a server is
 * started once for as many modules as need it, and as often as JVMs run side by side. All servers end with the process of the build.
 *
 * <p>Who has a server is decided by a lock on a file, which the operating system gives back when the JVM ends, however it ends. A
 * server is taken over only if its last user ended in order: who was killed may have left any setting behind.
 */
final class SharedServers {

    private static final Pattern FOLDER = Pattern.compile("build-(\\d+)-(\\d+-\\d+)");

    private static final long EMPTYING_SECONDS = 10;

    private final OsProcess build;
    private final Path folder;

    /** The locks of the servers in use; held until this JVM ends. */
    private final List<FileChannel> taken = new ArrayList<>();

    SharedServers(Path runs, OsProcess build) throws IOException {
        this.build = build;
        folder = Files.createDirectories(runs.resolve("build-" + namespace() + "-" + build));
        sweep(runs);
    }

    /** A server that no other JVM uses: one that is there, or a new one. */
    LocalServer take(Launcher launcher) throws IOException {
        for (int number = 1; ; number++) {
            Path home = folder.resolve(launcher.name() + "-" + number);
            FileChannel lock = locked(folder.resolve(home.getFileName() + ".lock"));
            if (lock == null) {
                continue;
            }
            try {
                LocalServer left = Files.isDirectory(home) ? leftIn(home, launcher) : null;
                LocalServer server = left != null ? left : LocalServer.start(launcher, () -> emptied(home), build);
                taken.add(lock);
                // the report of the build tells whose tests have kept it busy
                Files.writeString(
                        folder.resolve(home.getFileName() + ".user"), System.getProperty("bitjang.module", ""));
                return server;
            } catch (RuntimeException e) {
                lock.close();
                throw e;
            }
        }
    }

    private static @Nullable FileChannel locked(Path file) throws IOException {
        FileChannel lock = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (lock.tryLock() != null) {
                return lock;
            }
        } catch (OverlappingFileLockException e) {
            // This JVM has it. To close the channel would give that lock back too, so it stays open.
            return null;
        }
        lock.close();
        return null;
    }

    /** The server that an earlier JVM left there, or null if there is none that can be used; such a one is ended. */
    private @Nullable LocalServer leftIn(Path home, Launcher launcher) {
        LocalServer left = LocalServer.attached(launcher, home, build).orElse(null);
        if (left == null) {
            return null;
        }
        try {
            if (left.wasLeftInOrder()) {
                emptyInTime(launcher, left.port());
                return left;
            }
        } catch (SQLException e) {
            Progress.say("the " + launcher.name() + " of an earlier JVM can't be emptied, a new one is started: " + e);
        }
        left.end();
        return null;
    }

    /** A server may take a connection and never answer, and not every driver has a time-out for that. */
    private static void emptyInTime(Launcher launcher, int port) throws SQLException {
        FutureTask<Void> emptying = new FutureTask<>(() -> {
            empty(launcher, port);
            return null;
        });
        Thread thread = new Thread(emptying, "testkit-emptying");
        thread.setDaemon(true);
        thread.start();
        try {
            emptying.get(EMPTYING_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new SQLException("it does not answer within " + EMPTYING_SECONDS + " seconds", e);
        } catch (ExecutionException e) {
            throw new SQLException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while it was emptied", e);
        }
    }

    private static void empty(Launcher launcher, int port) throws SQLException {
        DriverDataSource source = new DriverDataSource(launcher.adminUrl(port), Launcher.USER, Launcher.PASSWORD);
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : launcher.emptying()) {
                statement.execute(sql);
            }
        }
    }

    private static Path emptied(Path home) throws IOException {
        Cache.delete(home);
        return Files.createDirectory(home);
    }

    /** Process ids mean something inside one namespace only, and containers may share the folder. */
    private static String namespace() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", "");
    }

    /** What is left of builds that have ended. Their watchdogs remove the servers; this is for the rest, and for a power cut. */
    private static void sweep(Path runs) throws IOException {
        String here = namespace();
        try (Stream<Path> builds = Files.list(runs)) {
            builds.filter(folder -> isAbandoned(folder, here)).forEach(SharedServers::remove);
        }
    }

    private static boolean isAbandoned(Path folder, String namespace) {
        Matcher name = FOLDER.matcher(folder.getFileName().toString());
        Optional<OsProcess> build =
                name.matches() && name.group(1).equals(namespace) ? OsProcess.parse(name.group(2)) : Optional.empty();
        return build.isPresent() && !build.get().isAlive();
    }

    private static void remove(Path folder) {
        try {
            Cache.delete(folder);
        } catch (IOException | UncheckedIOException e) {
            Progress.say("could not remove the remains of an earlier build: " + e);
        }
    }
}
