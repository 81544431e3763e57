// SPDX-License-Identifier: Apache-2.0
package io.bitjang.demo;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A {@link Node} as the demonstration sees it: a process to give orders to, to listen to, to stop and to kill. */
final class NodeProcess {

    /** Marks what a node says, among whatever else its JVM may print. */
    static final String MARK = "bitjang> ";

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    final String name;
    private final Process process;
    private final BufferedWriter orders;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final Queue<String> noise = new ConcurrentLinkedQueue<>();

    private NodeProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread reader = new Thread(this::read, "output of " + name);
        reader.setDaemon(true);
        reader.start();
    }

    static NodeProcess start(String name, String url) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("java.class.path");
        try {
            return new NodeProcess(
                    name,
                    new ProcessBuilder(List.of(
                                    java,
                                    "-Xmx64m",
                                    "-XX:TieredStopAtLevel=1",
                                    "-cp",
                                    classPath,
                                    Node.class.getName(),
                                    url,
                                    name))
                            .redirectErrorStream(true)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    long pid() {
        return process.pid();
    }

    void order(String line) {
        try {
            orders.write(line + "\n");
            orders.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " takes no orders any more", e);
        }
    }

    /** The next thing it says that begins with one of these words. */
    String expect(String... words) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        for (@Nullable String line = next(until); line != null; line = next(until)) {
            for (String word : words) {
                if (line.equals(word) || line.startsWith(word + " ")) {
                    return line;
                }
            }
        }
        throw new NotAsPromised(name + " did not say '" + String.join("' or '", words) + "' within "
                + PATIENCE.toSeconds() + " s. It printed: " + noise);
    }

    /** The number behind the word. */
    long expectNumber(String word) {
        return Long.parseLong(expect(word).substring(word.length() + 1));
    }

    private @Nullable String next(long until) {
        try {
            return said.poll(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** SIGKILL: the process gets no chance to give anything back. */
    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends a signal; false where there are none. */
    boolean signal(String signal) {
        try {
            return new ProcessBuilder("kill", "-" + signal, Long.toString(pid()))
                            .redirectErrorStream(true)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(MARK)) {
                    said.add(line.substring(MARK.length()));
                } else {
                    noise.add(line);
                }
            }
        } catch (IOException e) {
            noise.add("(its output ended: " + e.getMessage() + ")");
        }
    }
}
