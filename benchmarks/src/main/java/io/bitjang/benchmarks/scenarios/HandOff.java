// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import io.bitjang.benchmarks.contestants.Catalogue;
import io.bitjang.benchmarks.contestants.Contestant;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** From the moment one process begins to give the lock back until another, which waits for it, has it. */
final class HandOff implements Scenario {

    private static final String METRIC = "hand-off ms";

    @Override
    public String id() {
        return "S5";
    }

    @Override
    public String title() {
        return "hand-off from one JVM to another that waits";
    }

    private record Pair(Course.Turn turn, List<Child> children) {}

    @Override
    public void run(Course course) throws Exception {
        for (int round = 1; round <= course.rounds(); round++) {
            oneCommit(course, round);
        }
        for (List<Course.Turn> turns : course.placeByPlace()) {
            run(course, turns);
        }
    }

    private void run(Course course, List<Course.Turn> turns) throws Exception {
        List<Pair> pairs = new ArrayList<>();
        try {
            for (Course.Turn turn : turns) {
                course.say("S5: starting 2 JVMs for " + turn.entry().name() + " on "
                        + turn.place().name());
                String name = "S5-" + UUID.randomUUID().toString().substring(0, 8);
                Path file = course.folder().resolve(name);
                List<Child> children = List.of(
                        Child.start(turn.entry(), turn.place(), name, file),
                        Child.start(turn.entry(), turn.place(), name, file));
                pairs.add(new Pair(turn, children));
                children.forEach(Child::awaitReady);
                handOffs(children, 4);
            }
            for (int round = 1; round <= course.rounds(); round++) {
                for (Pair pair : Course.rotated(pairs, round)) {
                    long[] times = handOffs(pair.children, course.brief() ? 4 : 20);
                    double p50 = times[times.length / 2] / 1e6;
                    double worst = times[times.length - 1] / 1e6;
                    course.record(id(), pair.turn, round, METRIC, p50);
                    course.record(id(), pair.turn, round, "worst ms", worst);
                    course.say(String.format(
                            Locale.ROOT,
                            "S5 round %d of %d: %-11s %-24s p50 %.2f ms, worst %.2f ms",
                            round,
                            course.rounds(),
                            pair.turn.place().name(),
                            pair.turn.entry().name(),
                            p50,
                            worst));
                }
            }
        } finally {
            pairs.forEach(pair -> pair.children.forEach(Child::close));
        }
    }

    /** What a hand-off is measured by: one commit of the floor after a pause as long as before a hand-off. */
    private void oneCommit(Course course, int round) throws Exception {
        for (Course.Turn turn : course.turns(turn -> turn.entry().name().equals(Catalogue.FLOOR))) {
            try (Contestant floor = turn.entry().open(turn.place());
                    Contestant.Section section = floor.section("S5")) {
                long[] nanos = new long[course.brief() ? 4 : 20];
                for (int i = -nanos.length; i < nanos.length; i++) {
                    pause();
                    long began = System.nanoTime();
                    section.enter();
                    nanos[Math.max(0, i)] = System.nanoTime() - began;
                }
                Arrays.sort(nanos);
                course.record(id(), turn, round, METRIC, nanos[nanos.length / 2] / 1e6);
            }
        }
    }

    /** Long enough to be waiting, and never in step with somebody's poll. */
    private static void pause() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(60, 160));
    }

    private static long[] handOffs(List<Child> children, int times) throws InterruptedException {
        long[] nanos = new long[times];
        children.get(0).enter();
        children.get(0).entered();
        for (int i = 0; i < times; i++) {
            Child holder = children.get(i % 2);
            Child next = children.get((i + 1) % 2);
            next.enter();
            pause();
            long leaving = holder.leave();
            nanos[i] = next.entered() - leaving;
            holder.left();
        }
        Child last = children.get(times % 2);
        last.leave();
        last.left();
        Arrays.sort(nanos);
        return nanos;
    }
}
