// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.commons.JUnitException;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs test classes, or single tests ({@code Class#method}), again and again in one JVM and counts what fails: {@code Repeat 100
 * io.bitjang.contracts.h2.LineTest}. The exit code is 1 if anything failed, 2 if there was nothing to run. {@code .ci/steady --class}
 * starts it.
 */
public final class Repeat implements TestExecutionListener {

    private final Map<String, Integer> failed = new TreeMap<>();
    private int tests;

    /** How often, and what. */
    public static void main(String[] args) {
        int times = Integer.parseInt(args[0]);
        try {
            System.exit(repeat(times, Arrays.asList(args).subList(1, args.length)));
        } catch (ClassNotFoundException | JUnitException e) {
            System.out.println("NO TEST HAS RUN: " + e);
            System.exit(2);
        }
    }

    private static int repeat(int times, List<String> names) throws ClassNotFoundException {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String name : names) {
            selectors.addAll(selectors(name));
        }
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("junit.jupiter.execution.timeout.testable.method.default", "3 m")
                .build();
        Repeat repeat = new Repeat();
        Launcher launcher = LauncherFactory.create();
        for (int round = 1; round <= times; round++) {
            launcher.execute(request, repeat);
            System.out.printf("round %d of %d: %d tests, failed %s%n", round, times, repeat.tests, repeat.failed);
        }
        if (repeat.tests == 0 && repeat.failed.isEmpty()) {
            System.out.println("NO TEST HAS RUN: there is none in " + String.join(", ", names));
            return 2;
        }
        return repeat.failed.isEmpty() ? 0 : 1;
    }

    /** A class, or those of its methods that have this name, whatever parameters they take. */
    private static List<? extends DiscoverySelector> selectors(String name) throws ClassNotFoundException {
        String[] words = name.split("#", 2);
        Class<?> tests = Class.forName(words[0]);
        return words.length == 1
                ? List.of(DiscoverySelectors.selectClass(tests))
                : ReflectionSupport.findMethods(
                                tests, method -> method.getName().equals(words[1]), HierarchyTraversalMode.TOP_DOWN)
                        .stream()
                        .map(method -> DiscoverySelectors.selectMethod(tests, method))
                        .toList();
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        tests += test.isTest() ? 1 : 0;
        if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
            failed.merge(Tests.className(test) + " " + test.getDisplayName(), 1, Integer::sum);
            result.getThrowable().ifPresent(thrown -> thrown.printStackTrace(System.out));
        }
    }
}
