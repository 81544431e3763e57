// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks;

import io.bitjang.benchmarks.places.Place;
import io.bitjang.benchmarks.places.Places;
import io.bitjang.benchmarks.report.Report;
import io.bitjang.benchmarks.scenarios.Course;
import io.bitjang.benchmarks.scenarios.Scenario;
import io.bitjang.benchmarks.scenarios.Scenarios;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The command: starts the servers, measures, reports. */
public final class Benchmarks {

    private static final int WRONG_USAGE = 2;

    private Benchmarks() {}

    /** See {@link Options#HELP}. */
    public static void main(String[] args) throws Exception {
        if (Arrays.asList(args).contains("--help")) {
            System.out.print(Options.HELP);
            return;
        }
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.print(Options.HELP);
            System.exit(WRONG_USAGE);
            return;
        }
        System.exit(run(options) ? 0 : 1);
    }

    private static boolean run(Options options) throws Exception {
        long began = System.nanoTime();
        Files.createDirectories(options.folder());
        Path scratch = Files.createTempDirectory("bitjang-benchmark");
        try (Places places = new Places(Benchmarks::say)) {
            List<Place> running = places.start(options.places());
            Course course = new Course(
                    running,
                    options::takesPart,
                    options.rounds(),
                    options.time(),
                    options.brief(),
                    scratch,
                    Benchmarks::say);
            List<Scenario> scenarios = Scenarios.all().stream()
                    .filter(scenario -> options.scenarios().contains(scenario.id()))
                    .toList();
            for (Scenario scenario : scenarios) {
                say("== " + scenario.id() + ": " + scenario.title());
                scenario.run(course);
                new Report(options.folder(), scenarios, course).write();
            }
            System.out.println(Files.readString(options.folder().resolve(Report.PAGE)));
            say("Raw figures, the tables and the charts are in "
                    + options.folder().toAbsolutePath().normalize() + ". It took "
                    + (System.nanoTime() - began) / 1_000_000_000 + " s");
            course.complaints().forEach(Benchmarks::say);
            return course.violations() == 0
                    && (!options.brief() || course.complaints().isEmpty());
        }
    }

    private static void say(String line) {
        System.err.println(line);
    }
}
