// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/** The wall clock of a child process under libfaketime; one that jumps is set through a file that the library reads again and again. */
final class FakeClock {

    private static final List<String> PLACES = List.of(
            "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
            "/usr/lib64/faketime/libfaketime.so.1",
            "/usr/lib/faketime/libfaketime.so.1",
            "/usr/local/lib/faketime/libfaketime.so.1");

    private final Path folder;
    private final Path control;

    private FakeClock(Path folder) {
        this.folder = folder;
        this.control = folder.resolve("offset");
    }

    /** A clock that is wrong by the same all the time. */
    static void preload(ProcessBuilder builder, String offset) {
        builder.environment().put("LD_PRELOAD", library().toString());
        builder.environment().put("FAKETIME", offset);
        // Two names for one setting: before and since version 0.9.9.
        builder.environment().put("DONT_FAKE_MONOTONIC", "1");
        builder.environment().put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        // Or else every timed wait of the child ends at once: a workaround for a flaw of glibc that is long gone.
        builder.environment().put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
    }

    /** A clock that is right until it is {@linkplain #set set}. */
    static FakeClock preloadJumping(ProcessBuilder builder) {
        preload(builder, "+0s");
        builder.environment().remove("FAKETIME");
        try {
            FakeClock clock = new FakeClock(Files.createTempDirectory("bitjang-faketime"));
            clock.set("+0s");
            builder.environment().put("FAKETIME_TIMESTAMP_FILE", clock.control.toString());
            builder.environment().put("FAKETIME_NO_CACHE", "1");
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
        String message = "No libfaketime for a test with a wrong clock: install the package faketime, or set "
                + Settings.property("faketime") + " to the path of libfaketime.so.1";
        if (Boolean.getBoolean("bitjang.ci")) {
            throw new IllegalStateException(message);
        }
        Progress.say("SKIPPED: " + message);
        throw new TestAbortedException(message);
    }
}
