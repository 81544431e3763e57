// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The folders of the servers that run for this JVM. It holds a file lock as long as it lives, so that the next JVM can tell folders
 * in use from those that a power cut or a killed watchdog left behind, and remove these.
 */
final class RunFolders {

    private static final String LOCK = ".lock";

    private final String token = UUID.randomUUID().toString().substring(0, 8);
    private final AtomicInteger count = new AtomicInteger();
    private final Path root;
    private final Path lockFile;
    private final FileChannel alive;

    RunFolders(Path root) throws IOException {
        this.root = root;
        Files.createDirectories(root);
        lockFile = root.resolve(token + LOCK);
        // nobody may see it before it is locked: it would look abandoned
        Path unseen = root.resolve(token + ".new");
        alive = FileChannel.open(unseen, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        alive.lock();
        Files.move(unseen, lockFile, StandardCopyOption.ATOMIC_MOVE);
        sweep();
    }

    Path create(String name) throws IOException {
        return Files.createDirectory(root.resolve(token + "-" + name + "-" + count.incrementAndGet()));
    }

    void close() throws IOException {
        Files.deleteIfExists(lockFile);
        alive.close();
    }

    private void sweep() throws IOException {
        for (Path lock : list("*" + LOCK)) {
            String other = lock.getFileName().toString().replace(LOCK, "");
            if (!other.equals(token) && isAbandoned(lock)) {
                remove(lock, other);
            }
        }
    }

    /** A watchdog may be removing the same folder at this moment; what is left is for the next JVM. */
    private void remove(Path lock, String other) {
        try {
            for (Path folder : list(other + "-*")) {
                Cache.delete(folder);
            }
            Files.deleteIfExists(lock);
        } catch (IOException | UncheckedIOException e) {
            Progress.say("could not remove the remains of an earlier run: " + e);
        }
    }

    private static boolean isAbandoned(Path lock) {
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
                FileLock taken = channel.tryLock()) {
            return taken != null;
        } catch (IOException | OverlappingFileLockException e) {
            return false;
        }
    }

    private List<Path> list(String pattern) throws IOException {
        var matcher = root.getFileSystem().getPathMatcher("glob:" + pattern);
        try (Stream<Path> all = Files.list(root)) {
            return all.filter(path -> matcher.matches(path.getFileName())).toList();
        }
    }
}
