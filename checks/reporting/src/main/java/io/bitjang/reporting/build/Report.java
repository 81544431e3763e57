// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What is said when the build has ended: where the time went, what ran, what was skipped and why, what failed. */
final class Report {

    private static final int SLOWEST = 10;
    private static final int MOST_ERRORS = 40;

    private final Journals.Content content;
    private final List<Module> modules;
    private final Processes processes;
    private final List<String> errors;

    Report(Journals.Content content, List<Module> modules, Processes processes, List<String> errors) {
        this.content = content;
        this.modules = modules;
        this.processes = processes;
        this.errors = errors;
    }

    void say(int exitCode, double seconds) {
        if (!content.tests().isEmpty()) {
            sayTimes(seconds);
            sayTests();
        }
        if (tests("failed").findAny().isPresent()) {
            Build.say("\nFailed");
            tests("failed")
                    .forEach(test -> Build.say("  " + test.type() + " " + test.name() + "\n      " + test.why()));
            Build.say("Stack traces, threads, events of the locks and logs of the servers: target/failures");
        }
        if (exitCode != 0 && errors.stream().anyMatch(Report::isNoTest)) {
            errors.stream()
                    .dropWhile(line -> !isNoTest(line))
                    .limit(MOST_ERRORS)
                    .forEach(Build::say);
        }
        Build.say(Build.format("%n%s %.0f s", exitCode == 0 ? "Done in" : "Ended after", seconds));
    }

    /** Something else than a red test, which is told already. */
    private static boolean isNoTest(String line) {
        return line.matches(".*(COMPILATION ERROR|Non-resolvable|[Cc]rashed|timeout in the fork|Error: ).*")
                || (line.contains("Failed to execute goal") && !line.contains("There are test failures"));
    }

    private Stream<Journals.Test> tests(String outcome) {
        return content.tests().stream().filter(test -> test.is(outcome));
    }

    private void sayTimes(double seconds) {
        Build.say(Build.format("%n%-28s %7s %9s %12s %7s", "Module", "wall s", "CPU JVMs", "CPU servers", "tests"));
        modules.forEach(module -> Build.say(module.row(content, processes)));
        Build.say(Build.format(
                "%-28s %7s %9.0f",
                "Maven and its compilers", "", processes.usageOfMaven().jvms()));
        Build.say(Build.format(
                "%-28s %7.0f %9.0f %12.0f %7d",
                "all",
                seconds,
                processes.usage().jvms(),
                processes.usage().servers(),
                content.tests().size()));
        Build.say(Build.format("All processes together had at most %,d MB of memory.", processes.peakMegabytes()));
        Build.say("\nThe slowest classes");
        content.types().stream()
                .sorted(Comparator.comparingLong(Journals.Type::millis).reversed())
                .limit(SLOWEST)
                .forEach(type -> Build.say(Build.format("%7.1f s  %s", type.millis() / 1000.0, type.name())));
    }

    private void sayTests() {
        Build.say("\nTests");
        Map<String, List<Journals.Test>> onDatabases =
                content.tests().stream().collect(Collectors.groupingBy(Journals.Test::database));
        Journals.DATABASES.stream()
                .filter(onDatabases::containsKey)
                .forEach(database ->
                        Build.say("  " + Journals.nameOf(database) + ": " + outcomes(onDatabases.get(database))));
        tests("skipped")
                .collect(Collectors.groupingBy(Journals.Test::why, TreeMap::new, Collectors.counting()))
                .forEach((why, count) -> Build.say("  SKIPPED " + count + ": " + why));
    }

    private static String outcomes(List<Journals.Test> tests) {
        Map<String, Long> counts =
                tests.stream().collect(Collectors.groupingBy(Journals.Test::outcome, Collectors.counting()));
        return Stream.of("passed", "failed", "skipped")
                .filter(counts::containsKey)
                .map(outcome -> Build.format("%,d %s", counts.get(outcome), outcome))
                .collect(Collectors.joining(", "));
    }
}
