// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * How many tests a module has on each database, for the line that says how far they are. An estimate: what a parameterized test
 * expands to is known only when it runs, so parameters that are not databases count once.
 */
final class Totals {

    private Totals() {}

    static void count(BiConsumer<String, Integer> told) {
        Path classes = Path.of("target", "test-classes").toAbsolutePath();
        if (!Files.isDirectory(classes)) {
            return;
        }
        TestPlan plan = LauncherFactory.create(LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .build())
                .discover(LauncherDiscoveryRequestBuilder.request()
                        .selectors(DiscoverySelectors.selectClasspathRoots(Set.of(classes)))
                        .build());
        Map<String, Integer> totals = new TreeMap<>();
        plan.getRoots()
                .forEach(root -> plan.getDescendants(root).stream()
                        .filter(Totals::isMethod)
                        .flatMap(Totals::databases)
                        .forEach(database -> totals.merge(database, 1, Integer::sum)));
        totals.forEach(told);
    }

    private static boolean isMethod(TestIdentifier test) {
        return test.getSource()
                .filter(org.junit.platform.engine.support.descriptor.MethodSource.class::isInstance)
                .isPresent();
    }

    private static Stream<String> databases(TestIdentifier test) {
        return Tests.annotated(Tests.className(test))
                .map(Stream::of)
                .orElseGet(() -> overDatabases(test) ? Tests.selected().stream() : Stream.of(Tests.NONE));
    }

    private static boolean overDatabases(TestIdentifier test) {
        var source = (org.junit.platform.engine.support.descriptor.MethodSource)
                test.getSource().orElseThrow();
        try {
            // the annotation of a base class counts, though it is not inherited
            return Stream.concat(
                            Stream.of(source.getJavaMethod()),
                            Stream.<Class<?>>iterate(source.getJavaClass(), Objects::nonNull, Class::getSuperclass))
                    .map(element -> element.getAnnotation(MethodSource.class))
                    .filter(Objects::nonNull)
                    .flatMap(annotation -> Arrays.stream(annotation.value()))
                    .anyMatch(name -> name.matches("(.*#)?(databases.*|servers|selected)"));
        } catch (RuntimeException | LinkageError e) {
            return false;
        }
    }
}
