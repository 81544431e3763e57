// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.places.Place;
import io.bitjang.benchmarks.report.Measurement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What a scenario needs to know about the run, and where it writes its figures down. */
public final class Course {

    /** Those who have a figure there. */
    public record Turn(Place place, Catalogue.Entry entry) {}

    private final List<Place> places;
    private final Predicate<Catalogue.Entry> takesPart;
    private final int rounds;
    private final Duration time;
    private final boolean brief;
    private final Path folder;
    private final Consumer<String> say;
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private int violations;

    /** Over places that are up. */
    public Course(
            List<Place> places,
            Predicate<Catalogue.Entry> takesPart,
            int rounds,
            Duration time,
            boolean brief,
            Path folder,
            Consumer<String> say) {
        this.places = places;
        this.takesPart = takesPart;
        this.rounds = rounds;
        this.time = time;
        this.brief = brief;
        this.folder = folder;
        this.say = say;
    }

    /** Everyone at every place; in a short run the peers show themselves at one place each. */
    List<Turn> turns(Predicate<Turn> who) {
        Set<String> shown = new HashSet<>();
        List<Turn> turns = new ArrayList<>();
        for (Place place : places) {
            for (Catalogue.Entry entry : Catalogue.at(place)) {
                Turn turn = new Turn(place, entry);
                boolean everywhere =
                        !brief || entry.role() == Catalogue.Role.BITJANG || entry.role() == Catalogue.Role.FLOOR;
                if (takesPart.test(entry) && who.test(turn) && (everywhere || shown.add(entry.name()))) {
                    turns.add(turn);
                }
            }
        }
        return turns;
    }

    /** Those who need processes of their own: one place after the other, and in a short run only the main ones. */
    Collection<List<Turn>> placeByPlace() {
        Predicate<Catalogue.Entry> main = entry -> entry.role() == Catalogue.Role.PEER
                || entry.name().equals(Catalogue.LEASE)
                || entry.name().equals(Catalogue.SESSION);
        return turns(turn -> turn.entry().excludes() && (!brief || main.test(turn.entry()))).stream()
                .collect(Collectors.groupingBy(Turn::place, LinkedHashMap::new, Collectors.toList()))
                .values();
    }

    /** The order of a round: nobody is always first. */
    static <T> List<T> rotated(List<T> turns, int round) {
        List<T> order = new ArrayList<>(turns);
        Collections.rotate(order, round);
        return order;
    }

    int rounds() {
        return rounds;
    }

    Duration time() {
        return time;
    }

    boolean brief() {
        return brief;
    }

    Path folder() {
        return folder;
    }

    /** Tells the user how far it is. */
    void say(String line) {
        say.accept(line);
    }

    /** Writes a figure down. */
    void record(String scenario, Turn turn, int round, String metric, double value) {
        record(scenario, turn.place(), turn.entry().name(), round, metric, value);
    }

    /** Writes a figure down. */
    void record(String scenario, Place place, String who, int round, String metric, double value) {
        measurements.add(new Measurement(scenario, place.name(), who, round, metric, value));
    }

    /** Writes the figures of a round of cycles down, and tells them. */
    void record(String scenario, Turn turn, int round, Outcome outcome) {
        record(scenario, turn, round, "cycles/s", outcome.perSecond());
        record(scenario, turn, round, "p50 ms", outcome.millisAt(0.5));
        record(scenario, turn, round, "p99 ms", outcome.millisAt(0.99));
        record(scenario, turn, round, "fairness", outcome.fairness());
        record(scenario, turn, round, "violations", outcome.violations());
        say(String.format(
                Locale.ROOT,
                "%s round %d of %d: %-11s %-24s %,9.0f/s, p50 %.2f ms, p99 %.2f ms, fairness %.2f",
                scenario,
                round,
                rounds,
                turn.place().name(),
                turn.entry().name(),
                outcome.perSecond(),
                outcome.millisAt(0.5),
                outcome.millisAt(0.99),
                outcome.fairness()));
        judge(scenario, turn, outcome);
    }

    private void judge(String scenario, Turn turn, Outcome outcome) {
        String who = scenario + ", " + turn.place().name() + ", " + turn.entry().name() + ": ";
        if (outcome.violations() > 0) {
            violations += turn.entry().role() == Catalogue.Role.BITJANG ? 1 : 0;
            complaints.add(who + outcome.violations() + " times two were inside at once");
        }
        if (!outcome.failure().isEmpty()) {
            complaints.add(who + outcome.failure());
        }
        if (outcome.total() == 0) {
            complaints.add(who + "not one cycle");
        }
    }

    /** Something went wrong that the report must say. */
    void complain(String line) {
        complaints.add(line);
        say(line);
    }

    /** All figures. */
    public List<Measurement> measurements() {
        return measurements;
    }

    /** What went wrong. */
    public List<String> complaints() {
        return complaints;
    }

    /** How often Bitjang let two in. */
    public int violations() {
        return violations;
    }
}
