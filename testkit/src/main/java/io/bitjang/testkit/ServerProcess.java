// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server under the eyes of a small shell script, which kills it and removes its folder when its owner ends, however that ends. If
 * the owner is this JVM, the script holds the other end of a pipe; if it is the build, the script looks every second.
 */
final class ServerProcess {

    /**
     * The signals of a terminal and of a build that is cancelled go to the whole process group; the script ignores them, since only
     * the end of the owner is the end of the server. A stopped process does not react to SIGQUIT before it is continued, and neither
     * do the processes that PostgreSQL has started.
     */
    private static final String WATCHDOG = """
            trap '' INT HUP TERM QUIT PIPE
            set -f
            folder=$1 end=$2 owner=$3 since=$4
            shift 4
            lives() {
              [ "$2" != 0 ] || { kill -0 "$1" 2>/dev/null; return; }
              { read -r status <"/proc/$1/stat"; } 2>/dev/null || return 1
              set -- "$2" ${status##*) }
              [ "$2" != Z ] && [ "${21}" = "$1" ]
            }
            "$@" </dev/null >>"$folder/server.log" 2>&1 &
            server=$!
            started=0
            if { read -r status <"/proc/$server/stat"; } 2>/dev/null; then
              set -- ${status##*) }
              started=${20}
            fi
            echo "$server-$started" >"$folder/pid.new"
            mv "$folder/pid.new" "$folder/pid"
            echo "$server-$started"
            if [ "$owner" = 0 ]; then
              read -r left && exit 0
            else
              exec </dev/null >/dev/null
              while lives "$owner" "$since"; do
                sleep 1
                lives $server $started || exit 0
              done
            fi
            if lives $server $started; then
              read -r children <"/proc/$server/task/$server/children"
              kill -"$end" $server
              kill -CONT $server $children
              tries=0
              while [ $tries -lt 30 ] && lives $server $started; do
                sleep 0.1
                tries=$((tries + 1))
              done
              lives $server $started && kill -KILL $server
              wait $server
            fi 2>/dev/null
            rm -rf "$folder"
            """;

    private static final long STOP_SECONDS = 30;
    private static final String PID = "pid";

    private final @Nullable Process watchdog;
    private final Path folder;
    private final Signals signals;
    private final OsProcess server;

    private ServerProcess(@Nullable Process watchdog, Path folder, Signals signals, OsProcess server) {
        this.watchdog = watchdog;
        this.folder = folder;
        this.signals = signals;
        this.server = server;
    }

    /**
     * @param stopSignal asks the server to stop in an orderly way
     * @param endSignal ends it at once when nobody needs its data any more
     */
    record Signals(String stopSignal, String endSignal) {}

    /** @param owner the process with which it ends, or null for this JVM */
    static ServerProcess start(Path folder, Signals signals, @Nullable OsProcess owner, List<String> command)
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
        OsProcess server = OsProcess.parse(String.valueOf(answers.readLine()))
                .orElseThrow(() ->
                        new IOException("The watchdog of " + command.get(0) + " ended at once\n" + logTail(folder)));
        return new ServerProcess(owner == null ? watchdog : null, folder, signals, server);
    }

    /** The server that another JVM has started in that folder, or empty if none runs there. */
    static Optional<ServerProcess> attached(Path folder, Signals signals) {
        try {
            return OsProcess.parse(Files.readString(folder.resolve(PID)).strip())
                    .filter(OsProcess::isAlive)
                    .map(server -> new ServerProcess(null, folder, signals, server));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    Path folder() {
        return folder;
    }

    long pid() {
        return server.pid();
    }

    boolean isAlive() {
        return server.isAlive();
    }

    /** Stops the server in an orderly way and keeps its data. */
    void stop() throws IOException {
        signal(signals.stopSignal(), List.of(server));
        leave(List.of(server));
    }

    /** Kills the server and the processes that it has started, as a power cut would, and keeps its data. */
    void kill() throws IOException {
        // one that stands still starts no process that we would not see
        signal("STOP", List.of(server));
        List<OsProcess> family = family();
        signal("KILL", family);
        leave(family);
    }

    /** Stops the server and the processes that it has started where they stand, and returns when they do. */
    void pause() throws IOException {
        signal("STOP", List.of(server));
        awaitUntil(server::isStopped, "stand still");
        List<OsProcess> family = family();
        signal("STOP", family);
        for (OsProcess each : family) {
            awaitUntil(() -> !each.isAlive() || each.isStopped(), "stand still");
        }
    }

    /** Lets a paused server go on. */
    void resume() throws IOException {
        signal("CONT", family());
    }

    /** Lets the server read its settings again. */
    void hangUp() throws IOException {
        signal("HUP", List.of(server));
    }

    /** The server, and the processes that it has started and that still run. */
    private List<OsProcess> family() {
        return Stream.concat(
                        Stream.of(server),
                        ProcessHandle.of(pid()).stream()
                                .flatMap(ProcessHandle::descendants)
                                .flatMap(child -> OsProcess.of(child.pid()).stream()))
                .toList();
    }

    /** The watchdog then leaves the folder alone. */
    private void leave(List<OsProcess> ending) throws IOException {
        for (OsProcess each : ending) {
            awaitUntil(() -> !each.isAlive(), "stop");
        }
        if (watchdog != null) {
            try (var orders = watchdog.outputWriter(StandardCharsets.US_ASCII)) {
                orders.write("left\n");
            }
        }
    }

    /** Kills the server and removes its folder, even if this thread is interrupted. */
    void end() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            if (watchdog == null) {
                signal(signals.endSignal(), List.of(server));
                signal("CONT", List.of(server));
                awaitUntil(() -> !isAlive(), "stop");
                Cache.delete(folder);
            } else {
                watchdog.getOutputStream().close();
                if (!watchdog.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    throw didNot("stop");
                }
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void signal(String name, List<OsProcess> to) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "kill -\"$@\"", "sh", name));
        to.stream().filter(OsProcess::isAlive).forEach(each -> command.add(Long.toString(each.pid())));
        if (command.size() > 5) {
            Shell.run(command, "");
        }
    }

    private void awaitUntil(BooleanSupplier done, String what) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
        while (!done.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw didNot(what);
            }
            try {
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
    }

    private IOException didNot(String what) {
        return new IOException(
                "The server did not " + what + " within " + STOP_SECONDS + " seconds\n" + logTail(folder));
    }

    private static IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IOException("Interrupted while the server stopped", e);
    }

    String logTail() {
        return logTail(folder);
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
