// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks;

import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.places.Places;
import io.bitjang.benchmarks.scenarios.Scenario;
import io.bitjang.benchmarks.scenarios.Scenarios;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What the command line asks for. */
record Options(
        boolean brief,
        List<String> scenarios,
        List<String> places,
        List<String> contestants,
        int rounds,
        Duration time,
        Path folder) {

    private static final List<String> SCENARIOS =
            Scenarios.all().stream().map(Scenario::id).toList();

    static final String HELP = """
            Usage: benchmarks/run [options]

              --short                  a run of under three minutes that only shows that everything works
              --scenarios S1,S3        only these (%s)
              --places postgresql,...  only these (%s)
              --contestants lease,...  only those whose name contains one of these words, and the floors
              --rounds N               5 unless told; the report has medians
              --millis N               how long a contestant runs in a round; 1000 unless told
              --out FOLDER             where results.tsv, report.md and the charts go; benchmarks/target/results unless told
              --help                   this
            """.formatted(String.join(", ", SCENARIOS), String.join(", ", Places.ALL));

    static Options parse(String[] args) {
        Options options = new Options(
                false, SCENARIOS, Places.ALL, List.of(), 5, Duration.ofSeconds(1), Path.of("target/results"));
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--short")) {
                options = new Options(
                        true,
                        options.scenarios,
                        options.places,
                        options.contestants,
                        1,
                        Duration.ofMillis(150),
                        options.folder);
                continue;
            }
            if (i + 1 == args.length) {
                throw new IllegalArgumentException("Unknown, or without a value: " + args[i]);
            }
            options = options.with(args[i], args[++i]);
        }
        return options;
    }

    private Options with(String option, String value) {
        return switch (option) {
            case "--scenarios" ->
                new Options(brief, chosen(value, SCENARIOS), places, contestants, rounds, time, folder);
            case "--places" ->
                new Options(brief, scenarios, chosen(value, Places.ALL), contestants, rounds, time, folder);
            case "--contestants" ->
                new Options(
                        brief,
                        scenarios,
                        places,
                        List.of(value.toLowerCase(Locale.ROOT).split(",")),
                        rounds,
                        time,
                        folder);
            case "--rounds" ->
                new Options(brief, scenarios, places, contestants, positive(option, value), time, folder);
            case "--millis" ->
                new Options(
                        brief,
                        scenarios,
                        places,
                        contestants,
                        rounds,
                        Duration.ofMillis(positive(option, value)),
                        folder);
            case "--out" -> new Options(brief, scenarios, places, contestants, rounds, time, Path.of(value));
            default -> throw new IllegalArgumentException("Unknown: " + option);
        };
    }

    private static List<String> chosen(String value, List<String> known) {
        List<String> wanted = Arrays.asList(value.split(","));
        for (String each : wanted) {
            if (!known.contains(each)) {
                throw new IllegalArgumentException("Unknown: " + each + ". There are " + String.join(", ", known));
            }
        }
        return known.stream().filter(wanted::contains).toList();
    }

    private static int positive(String option, String value) {
        int number = Integer.parseInt(value);
        if (number < 1) {
            throw new IllegalArgumentException(option + " must be at least 1: " + value);
        }
        return number;
    }

    boolean takesPart(Catalogue.Entry entry) {
        String name = entry.name().toLowerCase(Locale.ROOT);
        return contestants.isEmpty()
                || entry.role() == Catalogue.Role.FLOOR
                || contestants.stream().anyMatch(name::contains);
    }
}
