// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Folders that are made once and then shared by all JVMs of the user. A folder under its final name is complete: it is filled under
 * another name and renamed, so a build that is killed half-way leaves nothing that looks finished.
 */
final class Cache {

    /** File locks belong to the whole JVM, so its threads need a lock of their own. */
    private static final ReentrantLock IN_THIS_JVM = new ReentrantLock();

    private Cache() {}

    @FunctionalInterface
    interface Filler {
        void fill(Path folder) throws IOException;
    }

    static Path folder(String name, Filler filler) {
        Path cache = Settings.cache();
        Path folder = cache.resolve(name);
        if (Files.isDirectory(folder)) {
            return folder;
        }
        IN_THIS_JVM.lock();
        try {
            Files.createDirectories(cache);
            try (FileChannel channel = FileChannel.open(
                            cache.resolve(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock ignored = channel.lock()) {
                if (!Files.isDirectory(folder)) {
                    make(folder, filler);
                }
            }
            return folder;
        } catch (IOException e) {
            throw new TestDatabaseException(
                    "Cannot fill the cache folder " + folder + " (another one: " + Settings.property("cache") + "): "
                            + e,
                    e);
        } finally {
            IN_THIS_JVM.unlock();
        }
    }

    private static void make(Path folder, Filler filler) throws IOException {
        // a program that a killed JVM had started may still write into its own
        Path unfinished = Files.createTempDirectory(folder.getParent(), folder.getFileName() + ".unfinished");
        Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rwxr-xr-x"));
        try {
            filler.fill(unfinished);
            Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            delete(unfinished);
            throw e;
        }
    }

    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> deepestFirst;
        try (Stream<Path> all = Files.walk(folder)) {
            deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : deepestFirst) {
            Files.deleteIfExists(path);
        }
    }
}
