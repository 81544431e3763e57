// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Another JVM with the class path and the compiler of this one, to talk with in lines over its standard input and output, to kill, to stop and to
 * continue. It dies with this JVM, however that ends. What it writes to standard error appears on ours.
 *
 * <pre>{@code
 * try (ChildJvm child = ChildJvm.of(Worker.class).args(database.jdbcUrl()).start()) {
 *     child.send("lock");
 *     assertThat(child.readLine(Duration.ofSeconds(5))).isEqualTo("locked");
 *     child.kill9();
 * }
 * }</pre>
 *
 * <p>Thread-safe, but two threads that read get a line each.
 */
public final class ChildJvm implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 10;
    private static final int ERRORS_KEPT = 20;

    private final Process process;
    private final Guardian guardian;
    private final @Nullable FakeClock clock;
    private final BufferedWriter input;

    /** An empty element is the end of the output. */
    private final BlockingQueue<Optional<String>> output = new LinkedBlockingQueue<>();

    /** The last of it, for the message when the child ends before its time. */
    private final Deque<String> errors = new ConcurrentLinkedDeque<>();

    private final Thread readsErrors;

    private ChildJvm(Process process, @Nullable FakeClock clock) throws IOException {
        this.process = process;
        this.clock = clock;
        this.guardian = Guardian.of(process);
        this.input = process.outputWriter(StandardCharsets.UTF_8);
        ProxiedConnection.start("child-output", this::readOutput);
        this.readsErrors = ProxiedConnection.start("child-errors", this::readErrors);
    }

    /** A child that will run that class's {@code main}. */
    public static Builder of(Class<?> main) {
        return new Builder(main.getName());
    }

    /** The process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process is there, running or stopped. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Writes a line to the child's standard input. */
    public void send(String line) {
        try {
            input.write(line);
            input.newLine();
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("Child " + pid() + " does not listen to '" + line + "'", e);
        }
    }

    /**
     * The next line of the child's standard output.
     *
     * @throws IllegalStateException when there is none in time, or the child has ended
     */
    public String readLine(Duration timeout) {
        try {
            Optional<String> line = output.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new IllegalStateException("Child " + pid() + " wrote no line within " + timeout);
            }
            if (line.isEmpty()) {
                output.add(line);
                process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
                throw new IllegalStateException("Child " + pid() + " has ended " + how());
            }
            return line.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for a line of child " + pid(), e);
        }
    }

    /** Reads lines until one starts with the prefix, and returns that. */
    public String readLineStartingWith(String prefix, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            String line = readLine(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            if (line.startsWith(prefix)) {
                return line;
            }
        }
    }

    /** Ends the child as {@code kill -9} does, and returns when it is gone. */
    public void kill9() {
        process.destroyForcibly();
        waitFor(Duration.ofSeconds(PATIENCE_SECONDS));
    }

    /** Waits for the child's end and returns its exit code. */
    public int waitFor(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("Child " + pid() + " has not ended within " + timeout);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the end of child " + pid(), e);
        }
    }

    /** Completed when the child has ended, with its exit code and the last that it wrote to standard error, for people. */
    public CompletableFuture<String> onEnd() {
        return process.onExit().thenApplyAsync(ended -> how());
    }

    private String how() {
        try {
            readsErrors.join(TimeUnit.SECONDS.toMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // what is there has to do
        }
        return (process.isAlive() ? "its output" : "with exit code " + process.exitValue())
                + (errors.isEmpty() ? "" : ", saying " + String.join(" | ", errors));
    }

    /** Stops the child where it stands (SIGSTOP), all its threads, and returns when it stands. */
    public void stop() {
        guardian.signal("STOP", true);
    }

    /** Lets a stopped child go on (SIGCONT). */
    public void cont() {
        guardian.signal("CONT", false);
    }

    /**
     * Sets the child's wall clock that far from the true time, while it runs; its monotonic clock goes on undisturbed.
     *
     * @param offset like {@code +1h} or {@code -90s}, from the true time
     * @throws IllegalStateException when the child was not started with {@link Builder#jumpingClock()}
     */
    public void jumpClock(String offset) {
        if (clock == null) {
            throw new IllegalStateException("Child " + pid() + " was started without jumpingClock()");
        }
        clock.set(offset);
    }

    /** Ends the child. */
    @Override
    public void close() {
        kill9();
        guardian.close();
        FakeClock.forget(pid());
        if (clock != null) {
            clock.close();
        }
    }

    private void readOutput() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(line -> output.add(Optional.of(line)));
        } catch (IOException | UncheckedIOException e) {
            // A killed child's output ends like this.
        } finally {
            output.add(Optional.empty());
        }
    }

    private void readErrors() {
        try (BufferedReader reader = process.errorReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(this::error);
        } catch (IOException | UncheckedIOException e) {
            // A killed child's output ends like this.
        }
    }

    private void error(String line) {
        Progress.say("child " + pid() + ": " + line);
        errors.add(line);
        if (errors.size() > ERRORS_KEPT) {
            errors.remove();
        }
    }

    /** How to start a child. */
    public static final class Builder {

        private final String main;
        private final List<String> jvmArguments = new ArrayList<>();
        private final Map<String, String> properties = new LinkedHashMap<>();
        private String classPath = System.getProperty("java.class.path");
        private List<String> arguments = List.of();
        private @Nullable String offset;
        private boolean jumps;

        private Builder(String main) {
            this.main = main;
            for (String inherited : List.of("user.timezone", "user.language", "user.country")) {
                String value = System.getProperty(inherited);
                if (value != null) {
                    properties.put(inherited, value);
                }
            }
        }

        /** The arguments of {@code main}. */
        public Builder args(String... values) {
            arguments = List.copyOf(Arrays.asList(values));
            return this;
        }

        /** Another class path than this JVM's. */
        public Builder classPath(String path) {
            classPath = path;
            return this;
        }

        /** A system property. */
        public Builder property(String key, String value) {
            properties.put(key, value);
            return this;
        }

        /** Options of the JVM, like {@code -Xmx512m}. */
        public Builder jvmArgs(String... values) {
            jvmArguments.addAll(Arrays.asList(values));
            return this;
        }

        /**
         * Gives the child a wall clock that is wrong by that much ({@code +10m}, {@code -1h}), all its life. Needs libfaketime.
         * Where it is missing, the test is aborted with a message or, with {@code bitjang.ci=true}, fails.
         */
        public Builder faketime(String fixedOffset) {
            offset = fixedOffset;
            return this;
        }

        /**
         * Gives the child a wall clock that is right until it {@linkplain #jumpClock jumps}. Needs libfaketime as {@link #faketime}
         * does, and costs the child a file read whenever it asks for the time.
         */
        public Builder jumpingClock() {
            jumps = true;
            return this;
        }

        /** Starts the child. */
        public ChildJvm start() {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m"));
            ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                    .filter(argument -> argument.startsWith("-XX:TieredStopAtLevel="))
                    .forEach(command::add);
            properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
            command.addAll(jvmArguments);
            command.addAll(List.of("-cp", classPath, main));
            command.addAll(arguments);
            ProcessBuilder builder = new ProcessBuilder(command);
            if (offset != null) {
                FakeClock.preload(builder.environment(), offset);
            }
            FakeClock clock = jumps ? FakeClock.preloadJumping(builder.environment()) : null;
            try {
                return new ChildJvm(builder.start(), clock);
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot start a JVM for " + main, e);
            }
        }
    }
}
