// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The engine with one line broken on purpose: a snippet of one source, which must occur there exactly once, is replaced.
 *
 * @param what says what is broken
 * @param type the type in {@code io.bitjang.internal} whose source is changed, with its package: {@code lease.WaitQueue}
 * @param snippet the text that is replaced
 * @param instead the text that replaces it
 */
record Mutant(String what, String type, String snippet, String instead) {

    private static final String OURS = "io.bitjang.internal.";

    /** Compiles the mutant, in an empty folder, and returns its own version of the class: everything of ours is loaded anew. */
    Class<?> load(Class<?> original, Path folder) throws IOException, ClassNotFoundException {
        return new Loader(compiled(folder)).loadClass(original.getName());
    }

    /** Returns the changed source; fails if the snippet has rotted. */
    String source() throws IOException {
        Path path = Path.of("src/main/java", (OURS + type).replace('.', '/') + ".java");
        String text = Files.readString(path);
        int at = text.indexOf(snippet);
        if (at < 0 || text.indexOf(snippet, at + 1) >= 0) {
            throw new AssertionError("The mutant '" + what + "' has rotted: its snippet must occur exactly once in "
                    + path + ", and does " + (at < 0 ? "not occur" : "so more often") + ":\n" + snippet);
        }
        return text.replace(snippet, instead);
    }

    /** Compiles the changed source alone, against the classes of the test, into the folder; returns its classes by their names. */
    private Map<String, byte[]> compiled(Path folder) throws IOException {
        Path source = folder.resolve(type.substring(type.indexOf('.') + 1) + ".java");
        Files.writeString(source, source());
        StringWriter messages = new StringWriter();
        // the module of the core does not read javax.tools; this way to the compiler needs no module
        int failed = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(
                        new PrintWriter(messages),
                        new PrintWriter(messages),
                        "-proc:none",
                        "-nowarn",
                        "-implicit:none",
                        "-encoding",
                        "UTF-8",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        folder.toString(),
                        source.toString());
        if (failed != 0) {
            throw new AssertionError("The mutant '" + what + "' does not compile:\n" + messages);
        }
        Map<String, byte[]> classes = new HashMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".class")).toList()) {
                String name = folder.relativize(file).toString().replace(File.separatorChar, '.');
                classes.put(name.substring(0, name.length() - ".class".length()), Files.readAllBytes(file));
            }
        }
        return classes;
    }

    /** Loads our internal classes itself, the mutated ones from memory, and leaves all others to its parent. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> mutated;

        Loader(Map<String, byte[]> mutated) {
            super(Mutant.class.getClassLoader());
            this.mutated = mutated;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.bitjang.")) {
                return super.loadClass(name, resolve);
            }
            @Nullable Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            byte[] bytes = mutated.containsKey(name) ? mutated.get(name) : original(name);
            return defineClass(name, bytes, 0, bytes.length);
        }

        private byte[] original(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                return in.readAllBytes();
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Override
    public String toString() {
        return what;
    }
}
