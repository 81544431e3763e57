// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.report;

/**
 * One figure of one round.
 *
 * @param scenario what was measured, S1 to S8
 * @param place where
 * @param contestant who
 * @param round from 1
 * @param metric what it counts
 * @param value the figure
 */
public record Measurement(String scenario, String place, String contestant, int round, String metric, double value) {}
