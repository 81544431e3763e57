// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.contestants.Contestant;
import io.bitjang.benchmarks.places.Place;
import io.bitjang.testkit.ChildJvm;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Another process with one contestant. It is told by lines what to do. */
final class Child implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final ChildJvm jvm;

    private Child(ChildJvm jvm) {
        this.jvm = jvm;
    }

    static Child start(Catalogue.Entry entry, Place place, String name, Path exclusion) {
        List<String> arguments = new ArrayList<>(List.of(entry.name(), name, exclusion.toString()));
        arguments.addAll(place.arguments());
        Child child = new Child(
                ChildJvm.of(Child.class).args(arguments.toArray(String[]::new)).start());
        return child;
    }

    void awaitReady() {
        jvm.readLineStartingWith("ready", PATIENCE);
    }

    /** Begins a round with that many threads. */
    void compete(int threads, Duration time) {
        jvm.send("compete " + threads + " " + time.toMillis());
    }

    Outcome outcome() {
        return Outcome.of(jvm.readLineStartingWith("outcome", PATIENCE));
    }

    /** Begins to wait. */
    void enter() {
        jvm.send("enter");
    }

    /** When it was let in. */
    long entered() {
        return nanos("entered ");
    }

    /** Leaves, and says when it began to. */
    long leave() {
        jvm.send("leave");
        return nanos("leaving ");
    }

    /** Until it has left for good. */
    void left() {
        jvm.readLineStartingWith("left", PATIENCE);
    }

    private long nanos(String prefix) {
        return Long.parseLong(jvm.readLineStartingWith(prefix, PATIENCE)
                .substring(prefix.length())
                .trim());
    }

    @Override
    public void close() {
        jvm.send("end");
        jvm.waitFor(PATIENCE);
        jvm.close();
    }

    /** Contestant, name of the lock, file for the exclusion, the place. */
    public static void main(String[] args) throws Exception {
        Place place = Place.of(Arrays.asList(args).subList(3, args.length));
        String name = args[1];
        Catalogue.Entry entry = Catalogue.byName(args[0]);
        ExecutorService one = Executors.newSingleThreadExecutor();
        try (Contestant contestant = entry.open(place)) {
            Arena arena = new Arena(contestant, entry.excludes() ? new Exclusion(Path.of(args[2])) : null);
            // some locks belong to a thread: the one that enters is the one that leaves
            Contestant.Section section = contestant.section(name);
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            System.out.println("ready");
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                String[] words = line.split(" ");
                switch (words[0]) {
                    case "compete" ->
                        System.out.println(arena.run(
                                        Integer.parseInt(words[1]),
                                        i -> name,
                                        i -> 0,
                                        Duration.ofMillis(Long.parseLong(words[2])))
                                .line());
                    case "enter" ->
                        one.submit(() -> {
                            section.enter();
                            System.out.println("entered " + System.nanoTime());
                            return null;
                        });
                    case "leave" ->
                        one.submit(() -> {
                            System.out.println("leaving " + System.nanoTime());
                            section.leave();
                            System.out.println("left");
                            return null;
                        });
                    default -> throw new IllegalArgumentException(line);
                }
            }
            section.close();
        } finally {
            one.shutdown();
        }
    }
}
