// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The wall clock of a child process under libfaketime; one that jumps is set through a file that the library reads again and again. */
final class FakeClock {

    private static final List<String> PLACES = List.of(
            "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
            "/usr/lib64/faketime/libfaketime.so.1",
            "/usr/lib/faketime/libfaketime.so.1",
            "/usr/local/lib/faketime/libfaketime.so.1");

    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private final Path folder;
    private final Path control;

    private FakeClock(Path folder) {
        this.folder = folder;
        this.control = folder.resolve("offset");
    }

    /** A clock that is wrong by the same all the time. */
    static void preload(Map<String, String> environment, String offset) {
        environment.put("LD_PRELOAD", library().toString());
        environment.put("FAKETIME", offset);
        // Two names for one setting: before and since version 0.9.9.
        environment.put("DONT_FAKE_MONOTONIC", "1");
        environment.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        // Or else every timed wait of the child ends at once: a workaround for a flaw of glibc that is long gone.
        environment.put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
    }

    /** A clock that is right until it is {@linkplain #set set}. */
    static FakeClock preloadJumping(Map<String, String> environment) {
        preload(environment, "+0s");
        environment.remove("FAKETIME");
        try {
            FakeClock clock = new FakeClock(Files.createTempDirectory("bitjang-faketime"));
            clock.set("+0s");
            environment.put("FAKETIME_TIMESTAMP_FILE", clock.control.toString());
            environment.put("FAKETIME_NO_CACHE", "1");
            return clock;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the offset of a clock", e);
        }
    }

    /** Renamed into place, so that nobody reads half an offset. */
    void set(String offset) {
        try {
            Path next = folder.resolve("next");
            Files.writeString(next, offset + "\n");
            Files.move(next, control, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the offset of a clock", e);
        }
    }

    /** What the library leaves behind when its process is killed. */
    static void forget(long pid) {
        try {
            Files.deleteIfExists(SHARED_MEMORY.resolve("faketime_shm_" + pid));
            Files.deleteIfExists(SHARED_MEMORY.resolve("sem.faketime_sem_" + pid));
        } catch (IOException e) {
            Progress.say("cannot remove what is left of a clock: " + e);
        }
    }

    void close() {
        try {
            Cache.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path library() {
        Optional<Path> found = Stream.concat(
                        Stream.ofNullable(System.getProperty(Settings.property("faketime"))), PLACES.stream())
                .map(Path::of)
                .filter(Files::isRegularFile)
                .findFirst();
        if (found.isPresent()) {
            return found.get();
        }
        throw Unavailable.because("No libfaketime for a test with a wrong clock: install the package faketime, or set "
                + Settings.property("faketime") + " to the path of libfaketime.so.1");
    }
}
