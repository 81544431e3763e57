// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server under the eyes of a small shell script that holds the other end of a pipe. When this JVM ends, however it ends, the pipe
 * closes, and the script kills the server and removes its folder.
 */
final class ServerProcess {

    /**
     * The signals of a terminal and of a build that is cancelled go to the whole process group; the script ignores them, since only
     * the end of the JVM is the end of the server. A stopped process does not react to SIGQUIT before it is continued.
     */
    private static final String WATCHDOG = """
            trap '' INT HUP TERM
            folder=$1 stop=$2 end=$3
            shift 3
            "$@" </dev/null >>"$folder/server.log" 2>&1 &
            server=$!
            echo $server
            if read -r order; then
              kill -"$stop" $server 2>/dev/null
              wait $server
              exit 0
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

    private final Process watchdog;
    private final Path folder;
    private final long pid;

    private ServerProcess(Process watchdog, Path folder, long pid) {
        this.watchdog = watchdog;
        this.folder = folder;
        this.pid = pid;
    }

    /**
     * @param stopSignal asks the server to stop in an orderly way
     * @param endSignal ends it at once when nobody needs its data any more
     */
    record Signals(String stopSignal, String endSignal) {}

    static ServerProcess start(Path folder, Signals signals, List<String> command) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                "sh",
                "-c",
                WATCHDOG,
                "bitjang-watchdog",
                folder.toString(),
                signals.stopSignal(),
                signals.endSignal()));
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
        return new ServerProcess(watchdog, folder, Long.parseLong(pid));
    }

    long pid() {
        return pid;
    }

    boolean isAlive() {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false) && !isZombie();
    }

    /** The watchdog collects its child only in the end, so a server that died by itself is still listed. */
    private boolean isZombie() {
        try {
            String status = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return status.substring(status.lastIndexOf(')')).startsWith(") Z");
        } catch (IOException e) {
            return true;
        }
    }

    /** Stops the server in an orderly way and keeps its data. */
    void stop() throws IOException {
        try (Writer orders = watchdog.outputWriter(StandardCharsets.US_ASCII)) {
            orders.write("stop\n");
            orders.flush();
            awaitEnd();
        }
    }

    /** Kills the server and removes its folder. */
    void end() throws IOException {
        watchdog.getOutputStream().close();
        awaitEnd();
    }

    private void awaitEnd() throws IOException {
        try {
            if (!watchdog.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(
                        "The server did not stop within " + STOP_SECONDS + " seconds\n" + logTail(folder));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while the server stopped", e);
        }
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
