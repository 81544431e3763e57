// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The databases that run for this JVM, and their end. */
final class Running {

    private static final Running INSTANCE = new Running();

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, TestDatabase> databases = new LinkedHashMap<>();
    private final List<LocalServer> servers = new ArrayList<>();
    private final List<Path> clusterFolders = new ArrayList<>();
    private @Nullable RunFolders folders;
    private @Nullable SharedServers shared;

    private Running() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::end, "testkit-end"));
    }

    static TestDatabase database(String name) {
        return INSTANCE.get(name);
    }

    /** Those that were asked for until now. */
    static List<TestDatabase> all() {
        INSTANCE.lock.lock();
        try {
            return List.copyOf(INSTANCE.databases.values());
        } finally {
            INSTANCE.lock.unlock();
        }
    }

    /** The folders of the servers that were started. */
    static List<Path> folders() {
        INSTANCE.lock.lock();
        try {
            return Stream.concat(INSTANCE.servers.stream().map(LocalServer::folder), INSTANCE.clusterFolders.stream())
                    .toList();
        } finally {
            INSTANCE.lock.unlock();
        }
    }

    /** A folder for a server of a cluster, whose log is among those that explain a failed test. */
    static Path newFolder(String name) throws IOException {
        INSTANCE.lock.lock();
        try {
            Path folder = INSTANCE.runFolders().create(name);
            INSTANCE.clusterFolders.add(folder);
            return folder;
        } finally {
            INSTANCE.lock.unlock();
        }
    }

    /** Removes a folder of {@link #newFolder} whose server has ended. */
    static void removeFolder(Path folder) throws IOException {
        INSTANCE.lock.lock();
        try {
            INSTANCE.clusterFolders.remove(folder);
        } finally {
            INSTANCE.lock.unlock();
        }
        Cache.delete(folder);
    }

    private RunFolders runFolders() throws IOException {
        if (folders == null) {
            folders = new RunFolders(Settings.cache().resolve("run"));
        }
        return folders;
    }

    private TestDatabase get(String name) {
        lock.lock();
        try {
            TestDatabase known = databases.get(name);
            if (known == null) {
                known = make(name);
                databases.put(name, known);
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    private TestDatabase make(String name) {
        Optional<Settings.External> external = Settings.external(name);
        if (external.isPresent()) {
            Settings.External given = external.get();
            return new JdbcDatabase(
                    name.equals("h2-server") ? "h2" : name,
                    new DriverDataSource(given.url(), given.user(), given.password()),
                    null);
        }
        return switch (name) {
            case "postgresql" -> start(new PostgresLauncher());
            case "mysql" -> start(new MySqlLauncher());
            case "mariadb" -> start(new MariaDbLauncher());
            case "h2-server" -> start(new H2Launcher());
            case "h2" -> H2InProcess.open();
            default ->
                throw new IllegalArgumentException("Unknown database '" + name + "'; known are "
                        + String.join(", ", Settings.ALL) + " and h2-server");
        };
    }

    private TestDatabase start(Launcher launcher) {
        try {
            LocalServer server = server(launcher);
            servers.add(server);
            return new JdbcDatabase(
                    launcher.name(),
                    new DriverDataSource(server.url(), Launcher.USER, Launcher.PASSWORD),
                    server::restart);
        } catch (IOException e) {
            throw new TestDatabaseException("Cannot write to the cache " + Settings.cache() + ": " + e.getMessage(), e);
        }
    }

    private LocalServer server(Launcher launcher) throws IOException {
        Path runs = Settings.cache().resolve("run");
        Optional<OsProcess> owner = Settings.durable() ? Optional.empty() : Settings.sharedBy();
        if (owner.isPresent()) {
            if (shared == null) {
                shared = new SharedServers(runs, owner.get());
            }
            return shared.take(launcher);
        }
        RunFolders mine = runFolders();
        return LocalServer.start(launcher, () -> mine.create(launcher.name()), null);
    }

    private void end() {
        lock.lock();
        try {
            servers.forEach(LocalServer::leave);
            if (folders != null) {
                folders.close();
            }
        } catch (IOException e) {
            Progress.say("cannot give up the run folder: " + e);
        } finally {
            lock.unlock();
        }
    }
}
