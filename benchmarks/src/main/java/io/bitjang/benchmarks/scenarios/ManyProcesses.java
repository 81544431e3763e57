// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Four processes of four threads each, on one name. */
final class ManyProcesses implements Scenario {

    private static final int THREADS = 4;

    @Override
    public String id() {
        return "S4";
    }

    @Override
    public String title() {
        return "4 JVMs of 4 threads each on one name";
    }

    private record Group(Course.Turn turn, List<Child> children) {}

    @Override
    public void run(Course course) throws Exception {
        for (List<Course.Turn> turns : course.placeByPlace()) {
            run(course, turns);
        }
    }

    private void run(Course course, List<Course.Turn> turns) throws Exception {
        int processes = course.brief() ? 2 : 4;
        List<Group> groups = new ArrayList<>();
        try {
            for (Course.Turn turn : turns) {
                course.say("S4: starting " + processes + " JVMs for "
                        + turn.entry().name() + " on " + turn.place().name());
                String name = "S4-" + UUID.randomUUID().toString().substring(0, 8);
                Path file = course.folder().resolve(name);
                Group group = new Group(turn, new ArrayList<>());
                groups.add(group);
                for (int i = 0; i < processes; i++) {
                    group.children.add(Child.start(turn.entry(), turn.place(), name, file));
                }
                group.children.forEach(Child::awaitReady);
                compete(group, course);
            }
            for (int round = 1; round <= course.rounds(); round++) {
                for (Group group : Course.rotated(groups, round)) {
                    course.record(id(), group.turn, round, compete(group, course));
                }
            }
        } finally {
            groups.forEach(group -> group.children.forEach(Child::close));
        }
    }

    private static Outcome compete(Group group, Course course) {
        group.children.forEach(child -> child.compete(THREADS, course.time().multipliedBy(2)));
        return Outcome.together(group.children.stream().map(Child::outcome).toList());
    }
}
