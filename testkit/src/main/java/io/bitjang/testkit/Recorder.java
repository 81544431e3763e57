// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import io.bitjang.testkit.CountingDataSource.Execution;
import io.bitjang.testkit.CountingDataSource.Hook;
import io.bitjang.testkit.CountingDataSource.Kind;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The proxies around connections and statements, and what they saw. Thread-safe. */
final class Recorder {

    static final Hook NOTHING = sql -> {};

    private static final Set<String> SETTINGS = Set.of(
            "setAutoCommit",
            "setTransactionIsolation",
            "setReadOnly",
            "setNetworkTimeout",
            "setCatalog",
            "setSchema",
            "setHoldability");

    private final Queue<Execution> executions = new ConcurrentLinkedQueue<>();
    final Queue<String> settings = new ConcurrentLinkedQueue<>();
    final AtomicInteger commits = new AtomicInteger();
    final AtomicInteger rollbacks = new AtomicInteger();
    final AtomicInteger open = new AtomicInteger();
    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger maxOpen = new AtomicInteger();
    volatile Hook before = NOTHING;
    volatile Hook after = NOTHING;

    List<Execution> executions() {
        return List.copyOf(executions);
    }

    void reset() {
        executions.clear();
        settings.clear();
        commits.set(0);
        rollbacks.set(0);
        opened.set(0);
        maxOpen.set(open.get());
    }

    Connection wrap(Connection connection) {
        opened.incrementAndGet();
        int now = open.incrementAndGet();
        maxOpen.accumulateAndGet(now, Math::max);
        return proxy(Connection.class, new ConnectionHandler(connection));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Recorder.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** Reflection packs what the driver throws; the caller must see it bare. */
    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private @Nullable Object between(String sql, Object target, Method method, Object @Nullable [] arguments)
            throws Throwable {
        before.at(sql);
        Object result = call(target, method, arguments);
        after.at(sql);
        return result;
    }

    /** Proxies are equal to themselves only, as connections are. */
    private static @Nullable Object ofObject(
            Object proxy, Object target, Method method, Object @Nullable [] arguments) {
        return switch (method.getName()) {
            case "equals" -> arguments != null && proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "counted " + target;
        };
    }

    private final class ConnectionHandler implements InvocationHandler {

        private final Connection target;
        private final AtomicBoolean closed = new AtomicBoolean();

        ConnectionHandler(Connection target) {
            this.target = target;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            String name = method.getName();
            if (method.getDeclaringClass() == Object.class) {
                return ofObject(proxy, target, method, arguments);
            }
            if (SETTINGS.contains(name) && arguments != null) {
                settings.add(name
                        + Arrays.stream(arguments)
                                .filter(argument -> !(argument instanceof java.util.concurrent.Executor))
                                .map(String::valueOf)
                                .collect(Collectors.joining(", ", "(", ")")));
            }
            return switch (name) {
                case "commit" -> {
                    commits.incrementAndGet();
                    yield between("COMMIT", target, method, arguments);
                }
                case "rollback" -> {
                    rollbacks.incrementAndGet();
                    yield between("ROLLBACK", target, method, arguments);
                }
                case "close", "abort" -> end(method, arguments);
                case "createStatement", "prepareStatement", "prepareCall" ->
                    statement((Connection) proxy, method, arguments);
                default -> call(target, method, arguments);
            };
        }

        private @Nullable Object end(Method method, Object @Nullable [] arguments) throws Throwable {
            try {
                return call(target, method, arguments);
            } finally {
                if (closed.compareAndSet(false, true)) {
                    open.decrementAndGet();
                }
            }
        }

        private Object statement(Connection proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            Statement statement = Statement.class.cast(Objects.requireNonNull(call(target, method, arguments)));
            String sql = arguments != null && arguments[0] instanceof String text ? text : null;
            StatementHandler handler = new StatementHandler(proxy, statement, sql);
            if (statement instanceof CallableStatement) {
                return proxy(CallableStatement.class, handler);
            }
            return statement instanceof PreparedStatement && sql != null
                    ? proxy(PreparedStatement.class, handler)
                    : proxy(Statement.class, handler);
        }
    }

    private final class StatementHandler implements InvocationHandler {

        private final Connection connection;
        private final Statement target;
        private final @Nullable String prepared;
        private final List<String> batch = new ArrayList<>();

        StatementHandler(Connection connection, Statement target, @Nullable String prepared) {
            this.connection = connection;
            this.target = target;
            this.prepared = prepared;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            if (method.getDeclaringClass() == Object.class) {
                return ofObject(proxy, target, method, arguments);
            }
            return switch (method.getName()) {
                case "getConnection" -> connection;
                case "addBatch" -> {
                    batch.add(sql(arguments));
                    yield call(target, method, arguments);
                }
                case "clearBatch" -> {
                    batch.clear();
                    yield call(target, method, arguments);
                }
                case "execute" -> execute(Kind.EXECUTE, List.of(sql(arguments)), method, arguments);
                case "executeQuery" -> execute(Kind.QUERY, List.of(sql(arguments)), method, arguments);
                case "executeUpdate", "executeLargeUpdate" ->
                    execute(Kind.UPDATE, List.of(sql(arguments)), method, arguments);
                case "executeBatch", "executeLargeBatch" -> {
                    List<String> statements = List.copyOf(batch);
                    batch.clear();
                    yield execute(Kind.BATCH, statements, method, arguments);
                }
                default -> call(target, method, arguments);
            };
        }

        private @Nullable Object execute(
                Kind kind, List<String> statements, Method method, Object @Nullable [] arguments) throws Throwable {
            executions.add(new Execution(kind, statements));
            return between(statements.isEmpty() ? "" : statements.get(0), target, method, arguments);
        }

        private String sql(Object @Nullable [] arguments) throws SQLException {
            if (arguments != null && arguments.length > 0 && arguments[0] instanceof String text) {
                return text;
            }
            if (prepared == null) {
                throw new SQLException("No SQL text");
            }
            return prepared;
        }
    }
}
