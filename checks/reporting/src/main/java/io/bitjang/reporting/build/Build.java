// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs Maven and tells a person about it: which module was built, every ten seconds how far the tests are on each database or what
 * is being downloaded, and in the end a {@link Report}. Maven's own lines go to {@code target/build/maven.log}.
 *
 * <p>{@code mvnw} compiles and starts this package before anything else is built, so it uses nothing but the JDK.
 */
public final class Build {

    private static final Pattern ERROR = Pattern.compile(
            "(?!.*(\\[Help 1\\]|full stack trace|full debug logging|For more information|the problems|<args>))"
                    + "(\\[(ERROR|FATAL)\\] .+|Error: .*)");
    private static final Pattern WORTH_SAYING = Pattern.compile(
            "\\[bitjang-testkit\\] (unpacking .*)|.*(Fetching MySQL .*)|.*(No Chromium was found.*)|.*(LEFT OUT: .*)");
    private static final Pattern RESULT =
            Pattern.compile("\\[\\w+\\] Tests run: [1-9]\\d*, Failures: \\d+, Errors: \\d+, Skipped: \\d+");
    private static final String GUARDIAN =
            "trap '' INT HUP TERM QUIT; read -r maven && { read -r order || kill -TERM $maven; }";
    private static final int EVERY_SECONDS = Integer.getInteger("bitjang.build.seconds", 10);
    private static final int LOOK_SECONDS = 2;
    private static final int END_SECONDS = 20;

    private final ReentrantLock lock = new ReentrantLock();
    private final Path root;
    private final Path folder;
    private final Journals journals;
    private final Processes processes;
    private final Downloads downloads;
    private final List<Module> modules = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();
    private final long began = System.nanoTime();
    private final List<String> results = new ArrayList<>();
    private final Set<String> said = new HashSet<>();
    private boolean surefireRan;

    private Build(Path root, List<String> command) {
        this.root = root;
        this.folder = root.resolve("target/build");
        this.journals = new Journals(folder.resolve("journal"));
        this.processes = new Processes(Path.of(setting(
                command, "bitjang.testkit.cache", System.getProperty("user.home") + "/.cache/bitjang/testkit")));
        this.downloads = new Downloads(
                Path.of(setting(command, "maven.repo.local", System.getProperty("user.home") + "/.m2/repository")));
    }

    /** The root of the project, then Maven's command line. */
    public static void main(String[] args) throws Exception {
        List<String> command = Arrays.asList(args).subList(1, args.length);
        System.exit(new Build(Path.of(args[0]), command).run(command));
    }

    private static String setting(List<String> command, String name, String otherwise) {
        String prefix = "-D" + name + "=";
        return command.stream()
                .filter(argument -> argument.startsWith(prefix))
                .map(argument -> argument.substring(prefix.length()))
                .findFirst()
                .orElse(otherwise);
    }

    private int run(List<String> command) throws IOException, InterruptedException {
        try (FileChannel lock = onlyOne()) {
            if (lock == null) {
                say("Another build runs in " + root + ": wait for its end, or use another clone.");
                return 1;
            }
            journals.begin();
            empty(root.resolve("target/failures"));
            try (Writer log = Files.newBufferedWriter(folder.resolve("maven.log"))) {
                Reporters reporters = new Reporters(root);
                int exitCode = reporters.areThere() ? 0 : runMaven(reporters.making(command), log);
                modules.clear();
                return tell(exitCode == 0 ? runMaven(command, log) : exitCode, command);
            }
        } catch (IOException e) {
            say("Cannot write to " + root.resolve("target") + ": " + e);
            return 1;
        }
    }

    /** Null if there is another. */
    private FileChannel onlyOne() throws IOException {
        Files.createDirectories(folder);
        FileChannel channel =
                FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            return null;
        }
        return channel;
    }

    private int runMaven(List<String> command, Writer log) throws IOException, InterruptedException {
        Writer guardian = guardian().outputWriter();
        CompletableFuture<Process> started = new CompletableFuture<>();
        Thread ending = new Thread(() -> endWith(started), "build-end");
        Runtime.getRuntime().addShutdownHook(ending);
        Process maven = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.INHERIT)
                .redirectErrorStream(true)
                .start();
        started.complete(maven);
        guardian.write(maven.pid() + "\n");
        guardian.flush();
        Thread telling = new Thread(() -> tellWhile(maven), "build-telling");
        telling.setDaemon(true);
        telling.start();
        try (BufferedReader lines = maven.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                log.write(line + "\n");
                log.flush();
                hear(line);
            }
        }
        int exitCode = maven.waitFor();
        guardian.write("done\n");
        guardian.close();
        return exitCode;
    }

    private int tell(int exitCode, List<String> command) {
        double seconds = (System.nanoTime() - began) / 1e9;
        if (modules.size() == 1) {
            modules.get(0).took(seconds);
        }
        Journals.Content content = journals.read();
        new Report(content, modules, processes, errors).say(exitCode, seconds);
        if (content.tests().isEmpty()) {
            results.forEach(Build::say);
        }
        String tests = setting(command, "test", "");
        if (exitCode == 0 && !tests.isEmpty() && surefireRan && results.isEmpty()) {
            say("NO TEST HAS RUN: nothing is called " + tests + " in the modules that were built.");
            return 1;
        }
        if (exitCode != 0) {
            say("FAILED. Maven's own lines are in " + root.relativize(folder.resolve("maven.log")));
        }
        return exitCode;
    }

    /** Whoever ends this ends Maven, and the servers' watchdogs see that it has gone. */
    private static void endWith(CompletableFuture<Process> started) {
        try {
            Process maven = started.get(END_SECONDS, TimeUnit.SECONDS);
            maven.destroy();
            if (!maven.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                maven.destroyForcibly();
            }
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            say("Maven did not end: " + e);
        }
    }

    /** Ends Maven when this JVM is killed: then the pipe between the two closes. */
    private static Process guardian() throws IOException {
        return new ProcessBuilder("sh", "-c", GUARDIAN, "bitjang-guardian")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    static void empty(Path folder) throws IOException {
        Files.createDirectories(folder);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** Whatever goes wrong here must not end the build. */
    private void hear(String line) {
        try {
            locked(() -> understand(line));
        } catch (RuntimeException e) {
            say("Not understood: " + line + " (" + e + ")");
        }
    }

    private void understand(String line) {
        Module module = Module.begun(line);
        Matcher worthSaying = WORTH_SAYING.matcher(line);
        if (module != null) {
            modules.add(module);
            say(module.line());
        } else if (RESULT.matcher(line).matches()) {
            results.add(line);
        } else if (line.contains("--- surefire:") || line.contains("--- maven-surefire-plugin:")) {
            surefireRan = true;
        } else if (ERROR.matcher(line).matches()) {
            errors.add(line);
        } else if (worthSaying.matches()) {
            for (int i = 1; i <= worthSaying.groupCount(); i++) {
                // each JVM of the tests says so, and once is enough
                if (worthSaying.group(i) != null && said.add(worthSaying.group(i))) {
                    say(worthSaying.group(i));
                }
            }
        } else {
            modules.forEach(begun -> begun.hear(line));
            downloads.hear(line);
        }
    }

    private void tellWhile(Process maven) {
        try {
            for (int second = 1; maven.isAlive(); second++) {
                TimeUnit.SECONDS.sleep(1);
                if (second % LOOK_SECONDS == 0) {
                    locked(() -> processes.look(maven.pid()));
                }
                if (second % EVERY_SECONDS == 0) {
                    locked(() -> {
                        processes.lookAtMemory(maven.pid());
                        Stream.of(journals.read().howFar(), downloads.news())
                                .filter(text -> !text.isEmpty())
                                .forEach(text -> say("        " + text.strip()));
                    });
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void locked(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }

    static void say(String text) {
        System.out.println(text);
    }
}
