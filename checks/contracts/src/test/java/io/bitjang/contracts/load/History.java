// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What all contenders saw, and the judgement over it. Times are of the monotonic clock, which all processes of a machine share.
 */
final class History {

    private static final int SMALLEST_PERCENT = 3;

    private static final String FAILURE = "FAILURE";

    /**
     * One grant of one name.
     *
     * @param seen the counter as it was found inside
     */
    record Grant(String name, long fence, int jvm, int thread, long entered, long left, int seen) {

        String line() {
            return String.join(
                    " ",
                    name,
                    Long.toString(fence),
                    Integer.toString(jvm),
                    Integer.toString(thread),
                    Long.toString(entered),
                    Long.toString(left),
                    Integer.toString(seen));
        }

        static Grant parse(String line) {
            String[] parts = line.split(" ");
            return new Grant(
                    parts[0],
                    Long.parseLong(parts[1]),
                    Integer.parseInt(parts[2]),
                    Integer.parseInt(parts[3]),
                    Long.parseLong(parts[4]),
                    Long.parseLong(parts[5]),
                    Integer.parseInt(parts[6]));
        }
    }

    private final List<Grant> grants = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    static String failure(int jvm, int thread, Exception e) {
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace, true));
        return FAILURE + " of thread " + thread + " in process " + jvm + ": "
                + trace.toString().replaceAll("\\s*\\R\\s*", " | ");
    }

    void add(String line) {
        if (line.startsWith(FAILURE)) {
            failures.add(line);
        } else {
            grants.add(Grant.parse(line));
        }
    }

    /** Nobody lost an update, fences grew in the order of grants, nobody was inside together with another, no exception came out. */
    void check(Map<String, Integer> totals) {
        assertThat(failures).as("exceptions that reached a caller").isEmpty();
        Map<String, List<Grant>> byName = new TreeMap<>(grants.stream().collect(Collectors.groupingBy(Grant::name)));
        assertThat(byName.keySet()).isEqualTo(totals.keySet());
        byName.forEach((name, ofName) -> {
            assertThat(totals.get(name)).as("the counter of " + name).isEqualTo(ofName.size());
            ofName.sort(Comparator.comparingLong(Grant::entered));
            for (int i = 1; i < ofName.size(); i++) {
                Grant before = ofName.get(i - 1);
                Grant next = ofName.get(i);
                if (next.entered < before.left || next.fence <= before.fence || next.seen != before.seen + 1) {
                    throw new AssertionError("Not one after the other: " + before + " and " + next);
                }
            }
        });
    }

    /** Everybody who queued got a share; those who only try again may have no luck. Answers with a sentence on how large. */
    String shares(int jvms, int threads, boolean queued) {
        int[] ofJvm = new int[jvms];
        int[] ofThread = new int[jvms * threads];
        // of several names taken together one counts
        grants.stream()
                .collect(Collectors.toMap(g -> g.jvm + "/" + g.thread + "/" + g.entered, g -> g, (a, b) -> a))
                .values()
                .forEach(grant -> {
                    ofJvm[grant.jvm]++;
                    ofThread[grant.jvm * threads + grant.thread]++;
                });
        IntSummaryStatistics byJvm = java.util.Arrays.stream(ofJvm).summaryStatistics();
        IntSummaryStatistics byThread = java.util.Arrays.stream(ofThread).summaryStatistics();
        if (queued) {
            assertThat(byThread.getMin())
                    .as("grants of the thread that got least")
                    .isPositive();
            assertThat(byJvm.getMin() * 100L / byJvm.getSum())
                    .as("percent of the process that got least")
                    .isGreaterThanOrEqualTo(SMALLEST_PERCENT);
        }
        return "%d grants; of a thread %d to %d, of a process %d to %d (%d%% to %d%%)"
                .formatted(
                        byJvm.getSum(),
                        byThread.getMin(),
                        byThread.getMax(),
                        byJvm.getMin(),
                        byJvm.getMax(),
                        byJvm.getMin() * 100L / byJvm.getSum(),
                        byJvm.getMax() * 100L / byJvm.getSum());
    }
}
