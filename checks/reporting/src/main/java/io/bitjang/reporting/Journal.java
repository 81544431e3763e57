// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Notes every test of this JVM in a file of its own in the folder {@code bitjang.build}, a line for each, as soon as it has ended.
 * The fields of a line are separated by tabs: what it is ({@code test}, {@code class} or {@code total}), the module, and then
 *
 * <ul>
 *   <li>{@code test}: database, outcome, milliseconds, class, name, the beginning of the message or the reason
 *   <li>{@code class}: milliseconds, name
 *   <li>{@code total}: database, how many tests the module has on it
 * </ul>
 *
 * <p>Without the property nothing is noted.
 */
public final class Journal implements TestExecutionListener {

    private final @Nullable Writer file;
    private final @Nullable Failures failures;
    private final String module = System.getProperty("bitjang.module", "?");
    private final Map<String, Long> started = new ConcurrentHashMap<>();
    private volatile @Nullable TestPlan plan;

    /** For JUnit. */
    public Journal() {
        this(System.getProperty("bitjang.build"));
    }

    Journal(@Nullable String folder) {
        file = folder == null ? null : opened(Path.of(folder, "journal"));
        failures = folder == null ? null : new Failures(Path.of(folder).resolveSibling("failures"));
        if (file != null && isFirst(Path.of(folder, "journal"))) {
            Thread counting = new Thread(
                    () -> Totals.count((database, tests) -> write("total", database, Integer.toString(tests))),
                    "reporting-totals");
            counting.setDaemon(true);
            counting.start();
        }
    }

    /** Null if it can't be written: no test is red for that. */
    private @Nullable Writer opened(Path folder) {
        try {
            Path journal = Files.createDirectories(folder)
                    .resolve(fileName() + "-" + ProcessHandle.current().pid() + ".tsv");
            // this writer replaces half a character, the one of Files fails from then on
            return new OutputStreamWriter(Files.newOutputStream(journal), StandardCharsets.UTF_8);
        } catch (IOException e) {
            System.err.println("The tests of this JVM are not in the report: " + e);
            return null;
        }
    }

    private String fileName() {
        return module.replaceAll("\\W", "-");
    }

    /** Whether no other JVM of this module's tests was here before: one counts for all. */
    private boolean isFirst(Path folder) {
        try {
            Files.createFile(folder.resolve(fileName() + ".counted"));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void testPlanExecutionStarted(TestPlan begun) {
        plan = begun;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
        if (test.isTest()) {
            LockLog.ofThisJvm().forget();
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (file != null) {
            note(test, "skipped", reason);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (file == null) {
            return;
        }
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    note(test, "passed", "");
                } else if (Tests.isTopLevelClass(test)) {
                    write("class", Long.toString(millis(test)), Tests.className(test));
                }
            }
            case ABORTED -> note(test, "skipped", message(result));
            case FAILED -> {
                note(test, "failed", message(result));
                if (failures != null) {
                    failures.keep(Tests.className(test), Tests.name(plan, test), result.getThrowable());
                }
            }
        }
    }

    private void note(TestIdentifier test, String outcome, String why) {
        write(
                "test",
                Tests.database(plan, test),
                outcome,
                Long.toString(millis(test)),
                Tests.className(test),
                Tests.name(plan, test),
                beginning(why));
    }

    /** AssertJ's messages begin with an empty line, and say little in the next. */
    private static String beginning(String message) {
        String text = message.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .limit(4)
                .collect(Collectors.joining(" "));
        return text.substring(0, Math.min(text.length(), 300));
    }

    private long millis(TestIdentifier test) {
        Long began = started.remove(test.getUniqueId());
        return began == null ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    }

    private static String message(TestExecutionResult result) {
        return result.getThrowable().map(Throwable::toString).orElse("");
    }

    private void write(String kind, String... fields) {
        StringBuilder line = new StringBuilder(kind).append('\t').append(module);
        for (String field : fields) {
            line.append('\t').append(field.replaceAll("[\\t\\r\\n]", " "));
        }
        try {
            Writer open = file;
            if (open != null) {
                open.write(line.append('\n').toString());
                open.flush();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
