// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.start;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Properties;

/** Where a running shop says how its nodes reach its database. Only its user can read it. */
public final class RunFile {

    /** The system property that names another file. */
    public static final String PROPERTY = "bitjang.shop.run";

    static final String SETTING = "--shop.run-file=";

    private final Path path;

    private RunFile(Path path) {
        this.path = path;
    }

    /** In the build folder of this clone, unless the system property {@code bitjang.shop.run} names another. */
    public static RunFile ofThisClone() {
        return new RunFile(Path.of(System.getProperty(PROPERTY, "examples/shop/target/running.properties")));
    }

    /**
     * Writes the one that a setting names. Otherwise one for the shop's own nodes, and that of this clone, for those that are started
     * from the command line and belong to the shop that was started last.
     */
    static RunFile write(Options options, Database database) {
        Optional<Path> named = options.settings().stream()
                .filter(each -> each.startsWith(SETTING))
                .map(each -> Path.of(each.substring(SETTING.length())))
                .findFirst();
        RunFile common = ofThisClone();
        RunFile file = new RunFile(named.orElseGet(() -> common.path()
                .resolveSibling("running-" + ProcessHandle.current().pid() + ".properties")));
        file.write(database);
        if (named.isEmpty()) {
            common.write(database);
        }
        return file;
    }

    /** Its name. */
    public Path path() {
        return path.toAbsolutePath();
    }

    /** Writes it; it is removed when the shop ends. */
    private void write(Database database) {
        Properties values = new Properties();
        values.setProperty("url", database.urlForNodes());
        values.setProperty("user", database.user());
        values.setProperty("password", database.password());
        try {
            Files.createDirectories(path.toAbsolutePath().getParent());
            Files.deleteIfExists(path);
            if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(
                        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
            try (Writer out = Files.newBufferedWriter(path)) {
                values.store(out, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The file " + path + " can't be written", e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> deleteIfStill(database), "run-file"));
    }

    /** Another shop may have written it since. */
    private void deleteIfStill(Database database) {
        try {
            if (read().password().equals(database.password()) && read().url().equals(database.urlForNodes())) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | Failure e) {
            // gone already
        }
    }

    /**
     * The database of the shop that runs.
     *
     * @throws Failure if none does
     */
    public Database read() {
        Properties values = new Properties();
        try (Reader in = Files.newBufferedReader(path)) {
            values.load(in);
        } catch (IOException e) {
            throw new Failure("No shop is running here: start it first, with ./examples/shop/run", e);
        }
        String url = values.getProperty("url");
        return new Database(url, url, url, values.getProperty("user"), values.getProperty("password"));
    }
}
