// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import io.bitjang.benchmarks.contestants.Contestant;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Threads of one process enter and leave as fast as they can. */
final class OneProcess implements Scenario {

    private final String id;
    private final String title;
    private final int threads;
    private final boolean oneName;

    OneProcess(String id, String title, int threads, boolean oneName) {
        this.id = id;
        this.title = title;
        this.threads = threads;
        this.oneName = oneName;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String title() {
        return title;
    }

    private record Runner(Course.Turn turn, Contestant contestant, Arena arena, String name) {}

    @Override
    public void run(Course course) throws Exception {
        List<Runner> runners = new ArrayList<>();
        try {
            for (Course.Turn turn :
                    course.turns(turn -> !oneName || turn.entry().excludes())) {
                Contestant contestant = turn.entry().open(turn.place());
                String name = id + "-" + UUID.randomUUID().toString().substring(0, 8);
                Path file = course.folder().resolve(name);
                runners.add(new Runner(
                        turn,
                        contestant,
                        new Arena(contestant, turn.entry().excludes() ? new Exclusion(file) : null),
                        name));
            }
            for (Runner runner : runners) {
                // warm: code, caches, pools
                go(runner, course);
            }
            for (int round = 1; round <= course.rounds(); round++) {
                for (Runner runner : Course.rotated(runners, round)) {
                    course.record(id, runner.turn, round, go(runner, course));
                }
            }
        } finally {
            for (Runner runner : runners) {
                runner.contestant.close();
            }
        }
    }

    private Outcome go(Runner runner, Course course) throws Exception {
        return runner.arena.run(
                threads, i -> oneName ? runner.name : runner.name + "-" + i, i -> oneName ? 0 : i, course.time());
    }
}
