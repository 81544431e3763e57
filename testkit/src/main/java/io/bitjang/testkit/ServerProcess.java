// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A server under the eyes of a small shell script, which kills it and removes its folder when its owner ends, however that ends. If
 * the owner is this JVM, the script holds the other end of a pipe; if it is the build, the script looks every second.
 */
final class ServerProcess {

    /**
     * The signals of a terminal and of a build that is cancelled go to the whole process group; the script ignores them, since only
     * the end of the owner is the end of the server. A stopped process does not react to SIGQUIT before it is continued.
     */
    private static final String WATCHDOG = """
            trap '' INT HUP TERM
            folder=$1 end=$2 owner=$3 started=$4
            shift 4
            "$@" </dev/null >>"$folder/server.log" 2>&1 &
            server=$!
            echo $server >"$folder/pid"
            echo $server
            if [ "$owner" = 0 ]; then
              read -r left && exit 0
            else
              exec </dev/null >/dev/null
              while read -r stat <"/proc/$owner/stat"; do
                set -- ${stat##*) }
                [ "$1" != Z ] && [ "${20}" = "$started" ] || break
                sleep 1
                kill -0 $server 2>/dev/null || exit 0
              done
            fi
            kill -"$end" $server 2>/dev/null
            kill -CONT $server 2>/dev/null
            tries=0
            while [ $tries -lt 30 ] && kill -0 $server 2>/dev/null; do
              sleep 0.1
              tries=$((tries + 1))
            done
            kill -KILL $server 2>/dev/null
            wait $server 2>/dev/null
            rm -rf "$folder"
            """;

    private static final long STOP_SECONDS = 30;
    private static final String PID = "pid";

    private final @Nullable Process watchdog;
    private final Path folder;
    private final Signals signals;
    private final long pid;

    private ServerProcess(@Nullable Process watchdog, Path folder, Signals signals, long pid) {
        this.watchdog = watchdog;
        this.folder = folder;
        this.signals = signals;
        this.pid = pid;
    }

    /**
     * @param stopSignal asks the server to stop in an orderly way
     * @param endSignal ends it at once when nobody needs its data any more
     */
    record Signals(String stopSignal, String endSignal) {}

    /** @param owner the process with which it ends, or null for this JVM */
    static ServerProcess start(Path folder, Signals signals, @Nullable Owner owner, List<String> command)
            throws IOException {
        List<String> all = new ArrayList<>(List.of(
                "sh",
                "-c",
                WATCHDOG,
                "bitjang-watchdog",
                folder.toString(),
                signals.endSignal(),
                Long.toString(owner == null ? 0 : owner.pid()),
                Long.toString(owner == null ? 0 : owner.started())));
        all.addAll(command);
        Process watchdog = new ProcessBuilder(all)
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.appendTo(log(folder).toFile()))
                .start();
        BufferedReader answers = watchdog.inputReader(StandardCharsets.US_ASCII);
        String pid = answers.readLine();
        if (pid == null) {
            throw new IOException("The watchdog of " + command.get(0) + " ended at once\n" + logTail(folder));
        }
        return new ServerProcess(owner == null ? watchdog : null, folder, signals, Long.parseLong(pid));
    }

    /** The server that another JVM has started in that folder, or null if there is none. */
    static @Nullable ServerProcess attached(Path folder, Signals signals) throws IOException {
        Path pid = folder.resolve(PID);
        return Files.exists(pid)
                ? new ServerProcess(
                        null,
                        folder,
                        signals,
                        Long.parseLong(Files.readString(pid).strip()))
                : null;
    }

    long pid() {
        return pid;
    }

    /** The watchdog collects its child only in the end, so a server that died by itself may still be listed. */
    boolean isAlive() {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false) && !Owner.isZombie(pid);
    }

    /** Stops the server in an orderly way and keeps its data. */
    void stop() throws IOException {
        signal(signals.stopSignal());
        awaitEnd();
        if (watchdog != null) {
            try (var orders = watchdog.outputWriter(StandardCharsets.US_ASCII)) {
                orders.write("left\n");
            }
        }
    }

    /** Kills the server and removes its folder. */
    void end() throws IOException {
        if (watchdog == null) {
            signal("KILL");
            awaitEnd();
            Cache.delete(folder);
            return;
        }
        watchdog.getOutputStream().close();
        try {
            if (!watchdog.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw didNotStop();
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private void signal(String name) throws IOException {
        Shell.run(List.of("sh", "-c", "kill -$1 $2", "sh", name, Long.toString(pid)), "");
    }

    private void awaitEnd() throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
        while (isAlive()) {
            if (System.nanoTime() > deadline) {
                throw didNotStop();
            }
            try {
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
    }

    private IOException didNotStop() {
        return new IOException("The server did not stop within " + STOP_SECONDS + " seconds\n" + logTail(folder));
    }

    private static IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IOException("Interrupted while the server stopped", e);
    }

    static String logTail(Path folder) {
        try {
            List<String> lines = Shell.read(log(folder)).lines().toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
        } catch (IOException e) {
            return "(no log: " + e + ")";
        }
    }

    private static Path log(Path folder) {
        return folder.resolve("server.log");
    }
}
