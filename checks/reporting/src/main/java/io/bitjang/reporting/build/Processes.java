// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What the processes of the build have used, as Linux tells it; elsewhere, nothing is known. */
final class Processes {

    private static final double TICKS_PER_SECOND = 100;
    private static final int FIRST_TIME = 11;
    private static final int LAST_TIME = 14;

    private final Path runs;
    private Usage usage = Usage.NONE;
    private long peakMegabytes;

    Processes(Path cache) {
        this.runs = cache.resolve("run");
    }

    /** Seconds of CPU time, of Maven with the JVMs and browsers below it, and of the servers that were started for it. */
    record Usage(double jvms, double servers) {
        static final Usage NONE = new Usage(0, 0);

        Usage minus(Usage other) {
            return new Usage(jvms - other.jvms, servers - other.servers);
        }
    }

    /** One line of the list of processes; the time is with that of children that have ended. */
    private record Line(long pid, long parent, long ticks) {}

    Usage usage() {
        return usage;
    }

    /** The memory of all of them together, at its largest; shared pages count once. */
    long peakMegabytes() {
        return peakMegabytes;
    }

    /** A process that ends between two looks at the list may be in it twice, as itself and with its parent: the lower sum counts. */
    void look(long maven) {
        Usage one = count(maven);
        Usage other = count(maven);
        Usage lower = one.jvms + one.servers < other.jvms + other.servers ? one : other;
        // one that has ended takes its time along, until its parent has counted it
        usage = new Usage(Math.max(usage.jvms, lower.jvms), Math.max(usage.servers, lower.servers));
    }

    private Usage count(long maven) {
        Map<Long, List<Line>> children = new HashMap<>();
        Map<Long, Line> all = new HashMap<>();
        for (Line line : list()) {
            all.put(line.pid, line);
            children.computeIfAbsent(line.parent, parent -> new ArrayList<>()).add(line);
        }
        List<Line> jvms = below(List.of(maven), all, children);
        List<Line> servers = below(servers(maven), all, children);
        peakMegabytes = Math.max(
                peakMegabytes,
                Stream.concat(jvms.stream(), servers.stream())
                                .mapToLong(Processes::kilobytes)
                                .sum()
                        / 1000);
        return new Usage(seconds(jvms), seconds(servers));
    }

    private static double seconds(List<Line> lines) {
        return lines.stream().mapToLong(Line::ticks).sum() / TICKS_PER_SECOND;
    }

    /** These processes, and all that they have started. */
    private static List<Line> below(List<Long> roots, Map<Long, Line> all, Map<Long, List<Line>> children) {
        List<Line> found = new ArrayList<>();
        roots.stream().filter(all::containsKey).map(all::get).forEach(found::add);
        for (int i = 0; i < found.size(); i++) {
            found.addAll(children.getOrDefault(found.get(i).pid, List.of()));
        }
        return found;
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
            long ticks = 0;
            for (int i = FIRST_TIME; i <= LAST_TIME; i++) {
                ticks += Long.parseLong(fields[i]);
            }
            lines.add(new Line(Long.parseLong(process.getFileName().toString()), Long.parseLong(fields[1]), ticks));
        } catch (IOException e) {
            // It has ended.
        }
    }

    /** The testkit writes down which ones it starts for the build. */
    private List<Long> servers(long maven) {
        List<Long> found = new ArrayList<>();
        try (Stream<Path> files = Files.find(runs, 3, (path, attributes) -> path.endsWith("pid"))) {
            for (Path file : files.toList()) {
                if (file.toString().matches(".*/build-\\d+-" + maven + "-\\d+/.*")) {
                    found.add(Long.parseLong(Files.readString(file).strip().split("-")[0]));
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
