// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test, or a test class, that leaves something behind which was not there before it:
 *
 * <ul>
 *   <li>a connection to a {@link TestDatabase}, as the server counts them; a pool of {@link TestDatabase#pool(int)} from before the
 *       test may grow and shrink, but must get all its connections back
 *   <li>an open transaction
 *   <li>a thread whose name starts with {@code bitjang-}
 * </ul>
 *
 * <p>Only connections of this JVM count, and for a test with {@link OnDatabase} only those to its database. What is about to end is waited for, three seconds at most unless the JUnit configuration
 * parameter {@code bitjang.leakcheck.patience.millis} says otherwise. Use it with {@code @ExtendWith(LeakCheck.class)}; tests that
 * share a database must not run at the same time.
 */
public final class LeakCheck implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {

    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeakCheck.class);
    private static final String PATIENCE = "bitjang.leakcheck.patience.millis";
    private static final Duration PAUSE = Duration.ofMillis(10);

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        remember(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        remember(context);
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        check(context);
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        check(context);
    }

    private static void remember(ExtensionContext context) throws Exception {
        context.getStore(NAMESPACE).put(context.getUniqueId(), Footprint.settled(monitors(context), patience(context)));
    }

    private static void check(ExtensionContext context) throws Exception {
        Footprint before = context.getStore(NAMESPACE).remove(context.getUniqueId(), Footprint.class);
        if (before == null) {
            return;
        }
        Iterable<SessionMonitor> monitors = monitors(context);
        long deadline = System.nanoTime() + patience(context).toNanos();
        List<String> leaks = leaks(before, monitors);
        while (!leaks.isEmpty() && System.nanoTime() < deadline) {
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
            leaks = leaks(before, monitors);
        }
        if (!leaks.isEmpty()) {
            // The class around it would only say the same again.
            context.getParent().ifPresent(LeakCheck::forgetAll);
            throw new AssertionError(context.getDisplayName() + " left behind:\n  " + String.join("\n  ", leaks));
        }
    }

    private static void forgetAll(ExtensionContext context) {
        context.getStore(NAMESPACE).remove(context.getUniqueId());
        context.getParent().ifPresent(LeakCheck::forgetAll);
    }

    private static Duration patience(ExtensionContext context) {
        return context.getConfigurationParameter(PATIENCE, Long::valueOf)
                .map(Duration::ofMillis)
                .orElse(Duration.ofSeconds(3));
    }

    private static List<String> leaks(Footprint before, Iterable<SessionMonitor> monitors) {
        try {
            return Footprint.now(monitors).beyond(before);
        } catch (SQLException e) {
            return List.of("a database that does not answer: " + e.getMessage());
        }
    }

    private static Iterable<SessionMonitor> monitors(ExtensionContext context) {
        Monitors monitors = context.getRoot()
                .getStore(NAMESPACE)
                .computeIfAbsent(Monitors.class, type -> new Monitors(), Monitors.class);
        return OnDatabaseExtension.database(context).map(monitors::of).orElseGet(monitors::all);
    }

    /** A monitor for each database that was started so far; closed by JUnit in the end. */
    static final class Monitors implements AutoCloseable {

        private final Map<TestDatabase, SessionMonitor> monitors = new LinkedHashMap<>();

        Iterable<SessionMonitor> all() {
            Running.all().forEach(database -> monitors.computeIfAbsent(database, SessionMonitor::new));
            return monitors.values();
        }

        /** A test that is bound to a database uses no other. */
        Iterable<SessionMonitor> of(String database) {
            return List.of(monitors.computeIfAbsent(TestDatabases.byName(database), SessionMonitor::new));
        }

        @Override
        public void close() {
            monitors.values().forEach(SessionMonitor::close);
        }
    }
}
