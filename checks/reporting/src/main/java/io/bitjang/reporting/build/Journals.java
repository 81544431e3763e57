// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the JVMs of the tests have written down so far ({@code io.bitjang.reporting.Journal}). */
final class Journals {

    static final List<String> DATABASES = List.of("postgresql", "mysql", "mariadb", "h2", "none");
    private static final Map<String, String> NAMES = Map.of(
            "postgresql",
            "PostgreSQL",
            "mysql",
            "MySQL",
            "mariadb",
            "MariaDB",
            "h2",
            "H2",
            "none",
            "without a server"); // H2 in memory, or no database at all

    private final Path folder;

    Journals(Path folder) {
        this.folder = folder;
    }

    static String nameOf(String database) {
        return NAMES.getOrDefault(database, database);
    }

    /** Forgets the last build. */
    void begin() throws IOException {
        Build.empty(folder);
    }

    /** One test, or one invocation of it. */
    record Test(String module, String database, String outcome, String type, String name, String why) {
        boolean is(String expected) {
            return outcome.equals(expected);
        }
    }

    /** How long a class took. */
    record Type(String name, long millis) {}

    /** How many tests a module has on a database, as far as that is known beforehand. */
    record Total(String module, String database, long tests) {}

    /** All of it. */
    record Content(List<Test> tests, List<Type> types, List<Total> totals) {

        Stream<Test> of(Module module) {
            return tests.stream().filter(test -> module.isCalled(test.module()));
        }

        /** How many tests have ended, of how many in the modules that have begun, on each database; empty when none has. */
        String howFar() {
            Map<String, Long> ran =
                    tests.stream().collect(Collectors.groupingBy(Test::database, Collectors.counting()));
            Map<String, Long> all = totals.stream()
                    .collect(Collectors.groupingBy(Total::database, Collectors.summingLong(Total::tests)));
            long failed = tests.stream().filter(test -> test.is("failed")).count();
            return DATABASES.stream()
                            .filter(ran::containsKey)
                            .map(database -> Build.format(
                                    "%s %,d/%,d",
                                    nameOf(database),
                                    ran.get(database),
                                    Math.max(all.getOrDefault(database, 0L), ran.get(database))))
                            .collect(Collectors.joining(", "))
                    + (failed == 0 ? "" : Build.format(", %,d FAILED", failed));
        }
    }

    Content read() {
        Content content = new Content(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                Files.readAllLines(file).forEach(line -> add(line, content));
            }
        } catch (IOException e) {
            Build.say("The tests' journals can't be read: " + e);
        }
        return content;
    }

    /** A line may be cut off: it is being written. */
    private static void add(String line, Content content) {
        String[] fields = Arrays.copyOf(line.split("\t", -1), 8);
        if (fields[0].equals("test") && fields[7] != null) {
            content.tests.add(new Test(fields[1], fields[2], fields[3], fields[5], fields[6], fields[7]));
        } else if (fields[0].equals("class") && fields[3] != null) {
            content.types.add(new Type(fields[3], Long.parseLong(fields[2])));
        } else if (fields[0].equals("total") && fields[3] != null && !fields[3].isEmpty()) {
            content.totals.add(new Total(fields[1], fields[2], Long.parseLong(fields[3])));
        }
    }
}
