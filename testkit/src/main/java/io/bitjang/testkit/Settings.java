// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The system properties that steer the testkit, read when they are needed so that a test may set them. */
final class Settings {

    static final List<String> ALL = List.of("h2", "postgresql", "mysql", "mariadb");
    private static final String PREFIX = "bitjang.testkit.";

    private Settings() {}

    /** A server of the user's own. */
    record External(String url, String user, String password) {}

    static Path cache() {
        return text("cache")
                .map(Path::of)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".cache", "bitjang", "testkit"))
                .toAbsolutePath();
    }

    /** Whether commits must reach the disk as in production; off by default, because tests don't outlive a power cut. */
    static boolean durable() {
        return Boolean.getBoolean(PREFIX + "durable");
    }

    /** Whose servers this JVM uses: those of a build, or its own. */
    static Optional<OsProcess> sharedBy() {
        return text("shared").flatMap(value -> {
            if (value.equals("build")) {
                return OsProcess.maven();
            }
            if (!value.matches("\\d+")) {
                throw new IllegalArgumentException(
                        "System property " + PREFIX + "shared is '" + value + "'; it is 'build' or a process id");
            }
            return OsProcess.of(Long.parseLong(value));
        });
    }

    static List<String> selected() {
        List<String> names = text("databases")
                .map(value -> Arrays.stream(value.split(","))
                        .map(name -> name.strip().toLowerCase(Locale.ROOT))
                        .filter(name -> !name.isEmpty())
                        .distinct()
                        .toList())
                .orElse(ALL);
        for (String name : names) {
            if (!ALL.contains(name)) {
                throw new IllegalArgumentException("System property " + PREFIX + "databases names '" + name
                        + "'; known are " + String.join(", ", ALL));
            }
        }
        return names;
    }

    static Optional<External> external(String name) {
        return text(name + ".url")
                .map(url -> new External(
                        url,
                        text(name + ".user").orElse(""),
                        text(name + ".password").orElse("")));
    }

    static Optional<Path> mysqlZip() {
        return text("mysql.zip").map(Path::of);
    }

    static String property(String key) {
        return PREFIX + key;
    }

    private static Optional<String> text(String key) {
        return Optional.ofNullable(System.getProperty(PREFIX + key))
                .map(String::strip)
                .filter(value -> !value.isEmpty());
    }
}
