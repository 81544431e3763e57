// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.report;

import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.scenarios.Course;
import io.bitjang.benchmarks.scenarios.Scenario;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Writes the raw figures, a table for each scenario and a chart for each. */
public final class Report {

    /** The page with the tables. */
    public static final String PAGE = "report.md";

    private final Path folder;
    private final List<Scenario> scenarios;
    private final List<Measurement> all;
    private final List<String> complaints;

    /** Of what was measured so far. */
    public Report(Path folder, List<Scenario> scenarios, Course course) {
        this.folder = folder;
        this.scenarios = scenarios;
        this.all = course.measurements();
        this.complaints = course.complaints();
    }

    /** Writes everything anew. */
    public void write() throws IOException {
        List<String> raw = new ArrayList<>(List.of("scenario\tplace\tcontestant\tround\tmetric\tvalue"));
        all.forEach(m -> raw.add(String.join(
                "\t",
                m.scenario(),
                m.place(),
                m.contestant(),
                Integer.toString(m.round()),
                m.metric(),
                Double.toString(m.value()))));
        Files.write(folder.resolve("results.tsv"), raw);
        StringBuilder page = new StringBuilder();
        for (Scenario scenario : scenarios) {
            List<Measurement> figures =
                    all.stream().filter(m -> m.scenario().equals(scenario.id())).toList();
            if (!figures.isEmpty()) {
                page.append("\n### ").append(scenario.id()).append(": ").append(scenario.title());
                page.append("\n\n").append(table(figures));
                Files.writeString(
                        folder.resolve(scenario.id().toLowerCase(Locale.ROOT) + ".svg"),
                        Chart.of(
                                scenario.id() + ": " + scenario.title(),
                                medians(figures, figures.get(0).metric()),
                                figures.get(0).metric()));
            }
        }
        complaints.forEach(line -> page.append("\n- ").append(line));
        Files.writeString(folder.resolve(PAGE), page.append('\n'));
    }

    /** A row for each contestant at each place, with the ratio to the floor (or to nobody) of the same place and round. */
    private static String table(List<Measurement> figures) {
        Set<String> metrics = new LinkedHashSet<>();
        figures.forEach(m -> metrics.add(m.metric()));
        String first = figures.get(0).metric();
        StringBuilder table = new StringBuilder("| place | contestant | " + first + " | ratio");
        metrics.stream().skip(1).forEach(metric -> table.append(" | ").append(metric));
        table.append(" |\n| --- | --- | ---: | ---:")
                .append(" | ---:".repeat(metrics.size() - 1))
                .append(" |\n");
        Map<String, Map<String, Double>> main = medians(figures, first);
        main.forEach((place, contestants) -> contestants.forEach((contestant, value) -> {
            table.append("| ").append(place).append(" | ").append(contestant).append(" | ");
            table.append(number(value)).append(" | ").append(ratio(figures, place, contestant, first));
            metrics.stream().skip(1).forEach(metric -> {
                Double median =
                        medians(figures, metric).getOrDefault(place, Map.of()).get(contestant);
                table.append(" | ").append(median == null ? "" : number(median));
            });
            table.append(" |\n");
        }));
        return table.toString();
    }

    private static String ratio(List<Measurement> figures, String place, String contestant, String metric) {
        Map<Integer, Double> floor = byRound(figures, place, Catalogue.FLOOR, metric);
        if (floor.isEmpty()) {
            floor = byRound(figures, place, Catalogue.NOBODY, metric);
        }
        Map<Integer, Double> base = floor;
        Map<Integer, Double> own = byRound(figures, place, contestant, metric);
        double[] ratios = own.entrySet().stream()
                .filter(round -> base.getOrDefault(round.getKey(), 0.0) > 0)
                .mapToDouble(round -> round.getValue() / base.get(round.getKey()))
                .toArray();
        return ratios.length == 0 ? "" : String.format(Locale.ROOT, "%.2f", median(ratios));
    }

    private static Map<Integer, Double> byRound(
            List<Measurement> figures, String place, String contestant, String metric) {
        Map<Integer, Double> values = new TreeMap<>();
        figures.stream()
                .filter(m -> m.place().equals(place))
                .filter(m -> m.contestant().equals(contestant))
                .filter(m -> m.metric().equals(metric))
                .forEach(m -> values.put(m.round(), m.value()));
        return values;
    }

    /** By place, then contestant. */
    private static Map<String, Map<String, Double>> medians(List<Measurement> figures, String metric) {
        Map<String, Map<String, Double>> medians = new LinkedHashMap<>();
        Set<String> places = new LinkedHashSet<>();
        figures.forEach(m -> places.add(m.place()));
        for (String place : places) {
            Map<String, Double> row = new LinkedHashMap<>();
            for (String contestant : contestants(figures)) {
                double[] values = byRound(figures, place, contestant, metric).values().stream()
                        .mapToDouble(Double::doubleValue)
                        .toArray();
                if (values.length > 0) {
                    row.put(contestant, median(values));
                }
            }
            medians.put(place, row);
        }
        return medians;
    }

    /** Those with a figure, in the order of the catalogue. */
    private static Set<String> contestants(List<Measurement> figures) {
        Set<String> present = new LinkedHashSet<>();
        figures.forEach(m -> present.add(m.contestant()));
        Set<String> ordered = new LinkedHashSet<>();
        Catalogue.all().stream()
                .map(Catalogue.Entry::name)
                .filter(present::contains)
                .forEach(ordered::add);
        ordered.addAll(present);
        return ordered;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    static String number(double value) {
        return String.format(Locale.ROOT, value >= 100 || value == 0 ? "%,.0f" : "%.2f", value);
    }
}
