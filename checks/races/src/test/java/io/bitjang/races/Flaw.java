// SPDX-License-Identifier: Apache-2.0
package io.bitjang.races;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;

/**
 * The core with one place broken on purpose: a snippet of one source, which must occur there exactly once, is replaced.
 *
 * @param race the race that shows it, in {@code io.bitjang.internal}: {@code lease.WaitQueueRaceTest$Joined}
 * @param type the type whose source is changed: {@code lease.WaitQueue}
 * @param snippet the text that is replaced
 * @param instead the text that replaces it
 */
record Flaw(String race, String type, String snippet, String instead) {

    private static final String OURS = "io.bitjang.internal.";
    private static final Path SOURCES = Path.of("../../core/src/main/java");

    /** Returns the changed source; fails if the snippet has rotted. */
    String source() throws IOException {
        Path path = SOURCES.resolve((OURS + type).replace('.', '/') + ".java");
        String text = Files.readString(path);
        int at = text.indexOf(snippet);
        if (at < 0 || text.indexOf(snippet, at + 1) >= 0) {
            throw new AssertionError("This must occur exactly once in " + path + ":\n" + snippet);
        }
        return text.replace(snippet, instead);
    }

    /**
     * Runs the race on the broken core, in no more orders than an ordinary build tries, and returns what it says. In a JVM of its own: Lincheck finds
     * classes by their names, and keeps what it has made of them.
     */
    String plantIn(Path folder) throws IOException {
        compileInto(folder);
        String classPath = folder + File.pathSeparator + System.getProperty("java.class.path");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx512m",
                        "-Draces.orders=80",
                        "-cp",
                        classPath,
                        Race.class.getName(),
                        OURS + race)
                .redirectErrorStream(true)
                .start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Compiles the changed source alone, against the classes of the test. */
    private void compileInto(Path folder) throws IOException {
        Path source = folder.resolve(type.substring(type.indexOf('.') + 1) + ".java");
        Files.writeString(source, source());
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages);
        String classPath = System.getProperty("java.class.path");
        int failed = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(out, out, "-proc:none", "-nowarn", "-cp", classPath, "-d", folder.toString(), source.toString());
        if (failed != 0) {
            throw new AssertionError("It does not compile:\n" + messages);
        }
    }

    @Override
    public String toString() {
        return race + ": " + type + " with "
                + instead.strip().lines().findFirst().orElse("nothing");
    }
}
