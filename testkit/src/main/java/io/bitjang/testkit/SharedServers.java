// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers that the JVMs of one build use one after the other. Each JVM has a server to itself, which it may stop or change the
 * settings of, from the moment it asks for it until it ends; then the next JVM takes it over, with an empty database. So a server is
 * started once for as many modules as need it, and as often as JVMs run side by side. All servers end with the {@linkplain Owner
 * process of the build}.
 *
 * <p>Who has a server is decided by a lock on a file, which the operating system gives back when the JVM ends, however it ends.
 */
final class SharedServers {

    private static final String PREFIX = "build-";

    private final Owner owner;
    private final Path folder;

    /** The locks of the servers in use; held until this JVM ends. */
    private final List<FileChannel> taken = new ArrayList<>();

    SharedServers(Path runs, Owner owner) throws IOException {
        this.owner = owner;
        folder = Files.createDirectories(runs.resolve(PREFIX + owner));
        sweep(runs);
    }

    /** A server that no other JVM uses: one that is there, or a new one. */
    LocalServer take(Launcher launcher) throws IOException {
        for (int number = 1; ; number++) {
            Path home = folder.resolve(launcher.name() + "-" + number);
            FileChannel lock = FileChannel.open(
                    folder.resolve(home.getFileName() + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock mine = lock.tryLock();
            if (mine == null) {
                lock.close();
                continue;
            }
            taken.add(lock);
            LocalServer left = leftIn(home, launcher);
            return left != null ? left : LocalServer.start(launcher, () -> emptied(home), owner);
        }
    }

    /** The server that an earlier JVM left there, or null if there is none, or none that works. */
    private @Nullable LocalServer leftIn(Path home, Launcher launcher) throws IOException {
        LocalServer left = Files.isDirectory(home) ? LocalServer.attached(launcher, home, owner) : null;
        if (left == null) {
            return null;
        }
        try {
            empty(launcher, left.port());
            return left;
        } catch (SQLException e) {
            Progress.say("the " + launcher.name() + " of an earlier JVM is of no use, a new one is started: " + e);
            left.end();
            return null;
        }
    }

    private static void empty(Launcher launcher, int port) throws SQLException {
        DriverDataSource source = new DriverDataSource(launcher.adminUrl(port), Launcher.USER, Launcher.PASSWORD);
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(20);
            for (String sql : launcher.emptying()) {
                statement.execute(sql);
            }
        }
    }

    private static Path emptied(Path home) throws IOException {
        Cache.delete(home);
        return Files.createDirectory(home);
    }

    /** What is left of builds that have ended. Their watchdogs remove the servers; this is for the rest, and for a power cut. */
    private static void sweep(Path runs) throws IOException {
        try (Stream<Path> builds = Files.list(runs)) {
            builds.filter(build -> build.getFileName().toString().startsWith(PREFIX))
                    .filter(build -> !Owner.parse(build.getFileName().toString().substring(PREFIX.length()))
                            .isAlive())
                    .forEach(SharedServers::remove);
        }
    }

    private static void remove(Path build) {
        try {
            Cache.delete(build);
        } catch (IOException | UncheckedIOException e) {
            Progress.say("could not remove the remains of an earlier build: " + e);
        }
    }
}
