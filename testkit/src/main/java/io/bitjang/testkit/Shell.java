// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program to its end. */
final class Shell {

    private static final long LIMIT_SECONDS = 300;

    private Shell() {}

    record Result(int exitCode, String output) {}

    /** Runs the program with the lines as its standard input. */
    static Result run(List<String> command, String input) throws IOException {
        Path in = Files.createTempFile("bitjang-in", ".txt");
        Path out = Files.createTempFile("bitjang-out", ".txt");
        try {
            Files.writeString(in, input);
            Process process = new ProcessBuilder(command)
                    .redirectInput(in.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException(
                        command.get(0) + " did not end within " + LIMIT_SECONDS + " seconds: " + read(out));
            }
            return new Result(process.exitValue(), read(out));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while " + command.get(0) + " ran", e);
        } finally {
            Files.deleteIfExists(in);
            Files.deleteIfExists(out);
        }
    }

    static void require(List<String> command, String input) throws IOException {
        Result result = run(command, input);
        if (result.exitCode() != 0) {
            throw new IOException(
                    "Exit code " + result.exitCode() + " of " + String.join(" ", command) + "\n" + result.output());
        }
    }

    /** Servers write in whatever encoding their locale has; a message must not fail on it. */
    static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    static boolean isRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException | UnsupportedOperationException e) {
            return "root".equals(System.getProperty("user.name"));
        }
    }
}
