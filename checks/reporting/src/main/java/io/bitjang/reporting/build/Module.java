// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.util.Map;
import java.util.stream.Collectors;

/** A module that is being built, or was. */
final class Module {

    private final String artifact;
    private final String name;
    private final String number;
    private final long began = System.nanoTime();
    private final Processes.Usage before;
    private double seconds;
    private Processes.Usage used = Processes.Usage.NONE;

    Module(String artifact, String name, String number, Processes.Usage before) {
        this.artifact = artifact;
        this.name = name;
        this.number = number;
        this.before = before;
    }

    boolean isCalled(String other) {
        return artifact.equals(other);
    }

    /** Whether it was not finished before. */
    boolean finish(Processes.Usage now) {
        if (seconds > 0) {
            return false;
        }
        seconds = (System.nanoTime() - began) / 1e9;
        used = now.minus(before);
        return true;
    }

    String line(Journals.Content content) {
        long tests = content.of(this).count();
        return Build.format("[%5s] %-28s %5.0f s", number, name, seconds)
                + (tests == 0 ? "" : Build.format("%,7d tests", tests));
    }

    String row(Journals.Content content) {
        return Build.format(
                "%-28s %7.0f %9.0f %12.0f %7d",
                name, seconds, used.jvms(), used.servers(), content.of(this).count());
    }

    /** How many of its tests have ended, of how many, on each database; empty when none has. */
    String howFar(Journals.Content content) {
        Map<String, Long> ran = Journals.Content.byDatabase(content.of(this));
        if (ran.isEmpty() || seconds > 0) {
            return "";
        }
        Map<String, Long> totals = content.totals().stream()
                .filter(total -> isCalled(total.module()))
                .collect(Collectors.toMap(Journals.Total::database, Journals.Total::tests, Math::max));
        long failed = content.tests().stream().filter(test -> test.is("failed")).count();
        return Journals.DATABASES.stream()
                .filter(ran::containsKey)
                .map(database -> Build.format(
                        "%s %,d/%,d",
                        Journals.nameOf(database),
                        ran.get(database),
                        Math.max(totals.getOrDefault(database, 0L), ran.get(database))))
                .collect(Collectors.joining(
                        ", ", "        " + name + ": ", failed == 0 ? "" : Build.format(", %,d FAILED", failed)));
    }
}
