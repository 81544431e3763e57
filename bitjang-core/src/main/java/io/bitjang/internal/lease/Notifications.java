// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.internal.sql.Database;
import io.bitjang.internal.time.Deadline;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens for the database's notifications that a lock was freed, on a thread and a connection that exist only while someone
 * waits. Where there is no such thing, or it fails, the poller does the work. Thread-safe.
 */
final class Notifications {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final Duration LINGER = Duration.ofSeconds(3);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);
    private static final int BLOCK_MILLIS = 200;

    private enum State {
        OFF,
        STARTING,
        LISTENING,
        CLOSED
    }

    private final Database database;
    private final String channel;
    private final String driver;
    private final Consumer<List<LockName>> freed;
    private final BooleanSupplier nobodyWaits;
    private final ThreadFactory threads = Workers.named("bitjang-listener");
    private final AtomicReference<State> state;
    private volatile Deadline retry = Deadline.in(Duration.ZERO);
    private volatile @Nullable Thread thread;

    Notifications(
            Database database,
            String channel,
            boolean enabled,
            Consumer<List<LockName>> freed,
            BooleanSupplier nobodyWaits) {
        this.database = database;
        this.channel = channel;
        this.driver = enabled ? database.dialect().notificationDriver() : "";
        this.freed = freed;
        this.nobodyWaits = nobodyWaits;
        this.state = new AtomicReference<>(driver.isEmpty() ? State.CLOSED : State.OFF);
    }

    /** Someone waits. */
    void want() {
        if (retry.passed() && state.compareAndSet(State.OFF, State.STARTING)) {
            Thread started = threads.newThread(this::listen);
            thread = started;
            started.start();
        }
    }

    /** Whether notifications are being received. */
    boolean active() {
        return state.get() == State.LISTENING;
    }

    void close() {
        state.set(State.CLOSED);
        Thread running = thread;
        if (running == null) {
            return;
        }
        try {
            running.join(5L * BLOCK_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void listen() {
        try (Connection connection = database.connect()) {
            boolean autoCommit = connection.getAutoCommit();
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
            Class<?> type = Class.forName(
                    driver, true, connection.getMetaData().getClass().getClassLoader());
            try (Statement statement = connection.createStatement()) {
                statement.execute("LISTEN \"" + channel + "\"");
                if (state.compareAndSet(State.STARTING, State.LISTENING)) {
                    receive(connection.unwrap(type), type.getMethod("getNotifications", int.class));
                }
                statement.execute("UNLISTEN \"" + channel + "\"");
            } finally {
                if (!autoCommit) {
                    connection.setAutoCommit(false);
                }
            }
        } catch (SQLException | ReflectiveOperationException e) {
            retry = Deadline.in(PAUSE_AFTER_FAILURE);
            LOG.log(System.Logger.Level.WARNING, "Notifications can't be received, locks are polled for instead: " + e);
        } finally {
            state.compareAndSet(State.STARTING, State.OFF);
            state.compareAndSet(State.LISTENING, State.OFF);
        }
    }

    private void receive(Object connection, Method getNotifications) throws ReflectiveOperationException, SQLException {
        Deadline end = Deadline.in(LINGER);
        while (state.get() == State.LISTENING) {
            Object[] received;
            try {
                received = (Object[]) getNotifications.invoke(connection, BLOCK_MILLIS);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof SQLException cause) {
                    throw cause;
                }
                throw e;
            }
            for (Object notification : received == null ? new Object[0] : received) {
                // the interface's method: the class that implements it is not public
                Method parameter =
                        getNotifications.getReturnType().getComponentType().getMethod("getParameter");
                freed.accept(List.of(parse((String) parameter.invoke(notification))));
            }
            if (!nobodyWaits.getAsBoolean()) {
                end = Deadline.in(LINGER);
            } else if (end.passed()) {
                return;
            }
        }
    }

    private static LockName parse(String payload) {
        int at = payload.indexOf('\u001f');
        return LockName.of(payload.substring(0, at), payload.substring(at + 1));
    }
}
