// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What the processes of the build have used, as Linux tells it; elsewhere, nothing is known. A JVM of the tests names its module on
 * its command line, and the testkit writes down which module uses a server. What a process used after the last look at it, at most
 * two seconds, is not counted.
 */
final class Processes {

    private static final double TICKS_PER_SECOND = 100;
    private static final int FIRST_TIME = 11;
    private static final int LAST_OWN_TIME = 12;
    private static final int LAST_TIME = 14;
    private static final int STARTED = 19;
    private static final String MODULE = "-Dbitjang.module=";

    private final Path runs;
    private final Map<Id, TestJvm> testJvms = new HashMap<>();
    private final Map<Id, Long> serverTicks = new HashMap<>();
    private final Map<String, Long> serverTicksOfModules = new HashMap<>();
    private long mavenTicks;
    private long peakMegabytes;

    Processes(Path cache) {
        this.runs = cache.resolve("run");
    }

    /** Seconds of CPU time, of Maven with the JVMs and browsers below it, and of the servers that were started for it. */
    record Usage(double jvms, double servers) {
        static Usage of(long jvmTicks, long serverTicks) {
            return new Usage(jvmTicks / TICKS_PER_SECOND, serverTicks / TICKS_PER_SECOND);
        }
    }

    /** Linux soon gives the number of a process that has ended to another: threads have such numbers, too. */
    private record Id(long pid, long started) {}

    /** A JVM of the tests with all that it has started: to which module it belongs, and its time when it was last looked at. */
    private record TestJvm(String module, long ticks) {}

    /** A server of the build, and the module that uses it now. */
    private record Server(long pid, String module) {}

    /** One line of the list of processes: its own time, and that with the children that have ended. */
    private record Line(long pid, long started, long parent, long own, long ticks) {
        Id id() {
            return new Id(pid, started);
        }
    }

    Usage usage() {
        return Usage.of(mavenTicks + ticksOf(testJvms.values().stream()), ticksOf(serverTicksOfModules));
    }

    Usage usageOf(String module) {
        return Usage.of(
                ticksOf(testJvms.values().stream().filter(jvm -> jvm.module.equals(module))),
                serverTicksOfModules.getOrDefault(module, 0L));
    }

    /** Maven itself, in whose JVM the compilers run. */
    Usage usageOfMaven() {
        return Usage.of(mavenTicks, 0);
    }

    private static long ticksOf(Stream<TestJvm> jvms) {
        return jvms.mapToLong(TestJvm::ticks).sum();
    }

    private static long ticksOf(Map<String, Long> modules) {
        return modules.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The memory of all of them together, at its largest; shared pages count once. */
    long peakMegabytes() {
        return peakMegabytes;
    }

    /** One that ends while the list is made may be in it twice, as itself and with its parent: the lower of two sums counts. */
    void look(long maven) {
        Tree first = new Tree(list());
        Tree second = new Tree(list());
        mavenTicks = Math.max(mavenTicks, second.own(maven));
        Set<Long> inTests = new HashSet<>();
        for (Line line : first.below(maven)) {
            TestJvm known = testJvms.get(line.id());
            String module = known == null ? moduleOf(line.pid) : known.module;
            if (inTests.contains(line.parent)) {
                inTests.add(line.pid);
            } else if (module != null) {
                inTests.add(line.pid);
                long ticks = Math.min(first.ticks(line.pid), second.ticks(line.pid));
                testJvms.put(line.id(), new TestJvm(module, known == null ? ticks : Math.max(known.ticks, ticks)));
            }
        }
        for (Server server : servers(maven)) {
            Line line = first.all.get(server.pid);
            if (line == null) {
                continue;
            }
            long ticks = Math.min(first.ticks(server.pid), second.ticks(server.pid));
            long before = serverTicks.getOrDefault(line.id(), 0L);
            serverTicks.put(line.id(), Math.max(before, ticks));
            serverTicksOfModules.merge(server.module, Math.max(0, ticks - before), Long::sum);
        }
    }

    /** Takes long, because the kernel walks through all of their pages. */
    void lookAtMemory(long maven) {
        Tree tree = new Tree(list());
        long kilobytes = Stream.concat(
                        tree.below(maven).stream(),
                        servers(maven).stream().flatMap(server -> tree.below(server.pid).stream()))
                .mapToLong(Processes::kilobytes)
                .sum();
        peakMegabytes = Math.max(peakMegabytes, kilobytes / 1000);
    }

    /** The processes, and who has started whom. */
    private static final class Tree {
        private final Map<Long, Line> all = new HashMap<>();
        private final Map<Long, List<Line>> children = new HashMap<>();

        Tree(List<Line> lines) {
            for (Line line : lines) {
                all.put(line.pid, line);
                children.computeIfAbsent(line.parent, parent -> new ArrayList<>())
                        .add(line);
            }
        }

        long own(long pid) {
            return all.containsKey(pid) ? all.get(pid).own : 0;
        }

        /** The time of this process and of all that it has started. */
        long ticks(long pid) {
            return below(pid).stream().mapToLong(Line::ticks).sum();
        }

        /** This process, and all that it has started. */
        List<Line> below(long root) {
            List<Line> found = new ArrayList<>();
            if (all.containsKey(root)) {
                found.add(all.get(root));
            }
            for (int i = 0; i < found.size(); i++) {
                found.addAll(children.getOrDefault(found.get(i).pid, List.of()));
            }
            return found;
        }
    }

    /** Null if it is not a JVM that Maven has started for the tests of a module. */
    private static String moduleOf(long pid) {
        try {
            String[] command = Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"))
                    .split("\0");
            return Arrays.stream(command)
                    .filter(argument -> argument.startsWith(MODULE))
                    .map(argument -> argument.substring(MODULE.length()))
                    .findFirst()
                    .orElse(null);
        } catch (IOException e) {
            return null;
        }
    }

    private static List<Line> list() {
        List<Line> lines = new ArrayList<>();
        try (Stream<Path> folders = Files.list(Path.of("/proc"))) {
            for (Path folder : folders.toList()) {
                if (folder.getFileName().toString().matches("\\d+")) {
                    add(folder, lines);
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return lines;
    }

    private static void add(Path process, List<Line> lines) {
        try {
            String text = Files.readString(process.resolve("stat"));
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
            lines.add(new Line(
                    Long.parseLong(process.getFileName().toString()),
                    Long.parseLong(fields[STARTED]),
                    Long.parseLong(fields[1]),
                    sum(fields, LAST_OWN_TIME),
                    sum(fields, LAST_TIME)));
        } catch (IOException e) {
            // It has ended.
        }
    }

    private static long sum(String[] fields, int last) {
        return Arrays.stream(fields, FIRST_TIME, last + 1)
                .mapToLong(Long::parseLong)
                .sum();
    }

    /** The testkit writes down which ones it starts for the build, and next to the server's folder who uses it. */
    private List<Server> servers(long maven) {
        List<Server> found = new ArrayList<>();
        try (Stream<Path> files = Files.find(runs, 3, (path, attributes) -> path.endsWith("pid"))) {
            for (Path file : files.toList()) {
                if (file.toString().matches(".*/build-\\d+-" + maven + "-\\d+/.*")) {
                    Path home = file.getParent();
                    Path user = home.resolveSibling(home.getFileName() + ".user");
                    found.add(new Server(
                            Long.parseLong(Files.readString(file).strip().split("-")[0]),
                            Files.exists(user) ? Files.readString(user) : ""));
                }
            }
        } catch (IOException | UncheckedIOException | NumberFormatException e) {
            // None was started yet, or one has just ended.
        }
        return found;
    }

    private static long kilobytes(Line process) {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(process.pid), "smaps_rollup"))) {
            return lines.filter(line -> line.startsWith("Pss:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }
}
