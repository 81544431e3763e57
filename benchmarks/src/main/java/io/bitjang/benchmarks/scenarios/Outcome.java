// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.scenarios;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What came of one round.
 *
 * @param counts of each thread, or of each process
 * @param nanos how long it took
 * @param samples of single cycles, sorted
 * @param violations how often two were inside at a time
 * @param failure the first exception; empty if there was none
 */
record Outcome(long[] counts, long nanos, long[] samples, long violations, String failure) {

    private static final int SENT = 500;

    long total() {
        return Arrays.stream(counts).sum();
    }

    double perSecond() {
        return total() * 1e9 / nanos;
    }

    /** The smallest share as a part of the largest. */
    double fairness() {
        long largest = Arrays.stream(counts).max().orElse(0);
        return largest == 0 ? 0 : (double) Arrays.stream(counts).min().orElse(0) / largest;
    }

    double millisAt(double quantile) {
        return samples.length == 0 ? 0 : samples[(int) Math.min(samples.length - 1, quantile * samples.length)] / 1e6;
    }

    /** For another process: some of the samples stand for all. */
    String line() {
        int step = Math.max(1, samples.length / SENT);
        return "outcome;" + join(Arrays.stream(counts)) + ";" + nanos + ";"
                + join(LongStream.iterate(0, i -> i < samples.length, i -> i + step)
                        .map(i -> samples[(int) i]))
                + ";" + violations + ";" + failure.replace(';', ',').replace('\n', ' ');
    }

    private static String join(LongStream values) {
        return values.mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    static Outcome of(String line) {
        String[] parts = line.split(";", -1);
        return new Outcome(
                values(parts[1]), Long.parseLong(parts[2]), values(parts[3]), Long.parseLong(parts[4]), parts[5]);
    }

    private static long[] values(String text) {
        return text.isEmpty()
                ? new long[0]
                : Arrays.stream(text.split(",")).mapToLong(Long::parseLong).toArray();
    }

    /** Of several processes. */
    static Outcome together(List<Outcome> outcomes) {
        return new Outcome(
                outcomes.stream().mapToLong(Outcome::total).toArray(),
                outcomes.stream().mapToLong(Outcome::nanos).max().orElse(1),
                outcomes.stream()
                        .flatMapToLong(outcome -> Arrays.stream(outcome.samples))
                        .sorted()
                        .toArray(),
                outcomes.stream().mapToLong(Outcome::violations).sum(),
                outcomes.stream()
                        .map(Outcome::failure)
                        .filter(f -> !f.isEmpty())
                        .findFirst()
                        .orElse(""));
    }
}
