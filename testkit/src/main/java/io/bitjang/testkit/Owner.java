// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The process whose end is the end of its servers, as Linux knows it.
 *
 * @param pid its process id
 * @param started when it started, in ticks since the machine did: a process id may be given again
 */
record Owner(long pid, long started) {

    private static final String MAVEN = "org.codehaus.plexus.classworlds.launcher.Launcher";
    private static final int STARTED = 19;

    /** The process with this id, if it runs. */
    static Optional<Owner> of(long pid) {
        return field(pid, STARTED).map(started -> new Owner(pid, Long.parseLong(started)));
    }

    /** The Maven that this JVM runs for. */
    static Optional<Owner> maven() {
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

    static Owner parse(String text) {
        String[] parts = text.split("-", 2);
        return new Owner(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
    }

    boolean isAlive() {
        return of(pid).equals(Optional.of(this)) && !isZombie(pid);
    }

    /** Whether it has ended and nobody has asked for its exit code. */
    static boolean isZombie(long pid) {
        return field(pid, 0).map(state -> state.equals("Z")).orElse(true);
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
