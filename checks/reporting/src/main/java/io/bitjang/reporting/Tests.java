// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.lang.annotation.Annotation;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** What is known of a test: its class, its name, and the database it runs on. */
final class Tests {

    static final List<String> DATABASES = List.of("postgresql", "mysql", "mariadb", "h2");
    static final String NONE = "none";

    private static final Pattern DATABASE = Pattern.compile("\\b(postgresql|mysql|mariadb|h2)(-server)?\\b");

    private Tests() {}

    static boolean isTopLevelClass(TestIdentifier test) {
        return List.of("class", "class-template")
                        .contains(test.getUniqueIdObject().getLastSegment().getType())
                && !className(test).contains("$");
    }

    static String className(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        if (source instanceof MethodSource method) {
            return method.getClassName();
        }
        return source instanceof ClassSource type ? type.getClassName() : test.getDisplayName();
    }

    /** The method with the parameters of all templates around it: {@code a_promise [postgresql] [2] late}. */
    static String name(@Nullable TestPlan plan, TestIdentifier test) {
        String method = test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getMethodName())
                .orElse("(class)");
        return path(plan, test).stream()
                .map(TestIdentifier::getDisplayName)
                .filter(name -> name.startsWith("["))
                .collect(Collectors.joining(" ", method + " ", ""))
                .strip();
    }

    /** The annotation of the class, else what the parameters say. */
    static String database(@Nullable TestPlan plan, TestIdentifier test) {
        return annotated(className(test))
                .or(() -> path(plan, test).stream()
                        .filter(each -> !(each.getSource().orElse(null) instanceof MethodSource) || each.isTest())
                        .map(each -> DATABASE.matcher(each.getDisplayName()))
                        .filter(Matcher::find)
                        .map(found -> found.group(1))
                        .findFirst())
                .orElse(NONE);
    }

    /** By its name, because not every module's tests have the testkit. */
    static Optional<String> annotated(String className) {
        try {
            Class<?> type =
                    Class.forName(className, false, Thread.currentThread().getContextClassLoader());
            for (Annotation annotation : type.getAnnotations()) {
                if (annotation.annotationType().getName().equals("io.bitjang.testkit.OnDatabase")) {
                    String value = (String)
                            annotation.annotationType().getMethod("value").invoke(annotation);
                    return Optional.of(value.replace("-server", ""));
                }
            }
            return Optional.empty();
        } catch (ReflectiveOperationException | LinkageError e) {
            return Optional.empty();
        }
    }

    /** From the outermost to the test. */
    private static List<TestIdentifier> path(@Nullable TestPlan plan, TestIdentifier test) {
        java.util.ArrayDeque<TestIdentifier> path = new java.util.ArrayDeque<>();
        for (Optional<TestIdentifier> at = Optional.of(test);
                at.isPresent();
                at = plan == null ? Optional.empty() : plan.getParent(at.get())) {
            path.addFirst(at.get());
        }
        return List.copyOf(path);
    }

    /** The databases that were asked for. */
    static List<String> selected() {
        String selected = System.getProperty("bitjang.testkit.databases", "");
        return selected.isBlank()
                ? DATABASES
                : Arrays.stream(selected.split(",")).map(String::strip).toList();
    }
}
