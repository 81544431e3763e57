// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process, and no other that gets its number later.
 *
 * @param pid its number
 * @param started when it started, in ticks since the machine did; 0 where that is not known, because it is not Linux
 */
record OsProcess(long pid, long started) {

    private static final String MAVEN = "org.codehaus.plexus.classworlds.launcher.Launcher";
    private static final int STATE = 0;
    private static final int STARTED = 19;

    /** The process with this number, if it runs. */
    static Optional<OsProcess> of(long pid) {
        return field(pid, STARTED).map(started -> new OsProcess(pid, Long.parseLong(started)));
    }

    /** The Maven that this JVM runs for. */
    static Optional<OsProcess> maven() {
        for (Optional<ProcessHandle> at = ProcessHandle.current().parent();
                at.isPresent();
                at = at.get().parent()) {
            long pid = at.get().pid();
            try {
                if (Shell.read(Path.of("/proc", Long.toString(pid), "cmdline")).contains(MAVEN)) {
                    return of(pid);
                }
            } catch (IOException e) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** The opposite of {@link #toString}; empty for any other text. */
    static Optional<OsProcess> parse(String text) {
        if (!text.matches("\\d{1,18}-\\d{1,18}")) {
            return Optional.empty();
        }
        String[] parts = text.split("-");
        return Optional.of(new OsProcess(Long.parseLong(parts[0]), Long.parseLong(parts[1])));
    }

    /** Whether it runs, or is stopped; one that has ended is not alive, though its parent has not asked for it yet. */
    boolean isAlive() {
        if (started == 0) {
            return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
        }
        return of(pid).equals(Optional.of(this))
                && field(pid, STATE).filter(state -> !state.equals("Z")).isPresent();
    }

    /** Whether all its threads stand still: each has a state of its own. */
    boolean isStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            List<Path> all = threads.toList();
            for (Path thread : all) {
                String status = Files.readString(thread.resolve("stat"));
                if (!status.substring(status.lastIndexOf(')')).startsWith(") T")) {
                    return false;
                }
            }
            return !all.isEmpty();
        } catch (IOException | UncheckedIOException e) {
            return false; // a thread has ended while we looked
        }
    }

    /** A field of the process's status, counted from its state on. */
    private static Optional<String> field(long pid, int index) {
        try {
            String status = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return Optional.of(status.substring(status.lastIndexOf(')') + 2).split(" ")[index]);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public String toString() {
        return pid + "-" + started;
    }
}
