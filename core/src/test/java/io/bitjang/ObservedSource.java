// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** A way to a database that writes down each statement, lets it fail or holds it back. Thread-safe. */
public final class ObservedSource {

    /** Called around a statement; throws in the database's stead, or keeps its thread. */
    @FunctionalInterface
    public interface Hook {
        /** With the text of the statement. */
        void at(String sql) throws SQLException;
    }

    private static final Hook NOTHING = sql -> {};

    private final String url;
    private final List<String> statements = new CopyOnWriteArrayList<>();
    private final List<String> parameters = new CopyOnWriteArrayList<>();
    private final List<String> settings = new CopyOnWriteArrayList<>();
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger mostOpen = new AtomicInteger();
    private volatile Hook before = NOTHING;
    private volatile Hook after = NOTHING;
    private volatile Hook afterClose = NOTHING;
    private volatile Hook afterCommit = NOTHING;
    private volatile int mostRows = Integer.MAX_VALUE;
    private volatile Runnable onOpen = () -> {};
    private volatile Runnable onClose = () -> {};
    private volatile boolean autoCommit = true;

    ObservedSource(String url) {
        this.url = url;
    }

    /** For the locks. */
    public DataSource dataSource() {
        return proxy(DataSource.class, (proxy, method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                onOpen.run();
                Connection made = DriverManager.getConnection(url);
                made.setAutoCommit(autoCommit);
                return connection(made);
            }
            throw new UnsupportedOperationException(method.getName());
        });
    }

    /** From now on its connections come as from a pool without auto-commit. */
    public void withoutAutoCommit() {
        autoCommit = false;
    }

    /** Before each statement from now on. */
    public void before(Hook hook) {
        before = hook;
    }

    /** After each statement from now on: what it throws takes the place of an answer. */
    public void after(Hook hook) {
        after = hook;
    }

    /** After each statement was closed, from now on: its answer is known by then. */
    public void afterClose(Hook hook) {
        afterClose = hook;
    }

    /** After each commit from now on: what it throws takes the place of an answer. */
    public void afterCommit(Hook hook) {
        afterCommit = hook;
    }

    /** When a connection is asked for, from now on: what it throws, the data source does. */
    public void onOpen(Runnable hook) {
        onOpen = hook;
    }

    /** When a connection is to be closed, from now on. */
    public void onClose(Runnable hook) {
        onClose = hook;
    }

    /** From now on the server cancels each statement for more rows than this, as PostgreSQL does when its time is over. */
    public void cancelAbove(int rows) {
        mostRows = rows;
    }

    /** All goes well again. */
    public void up() {
        mostRows = Integer.MAX_VALUE;
        onOpen = () -> {};
        onClose = () -> {};
        before = NOTHING;
        after = NOTHING;
        afterClose = NOTHING;
        afterCommit = NOTHING;
    }

    /** Forgets what was written down. */
    public void reset() {
        statements.clear();
        parameters.clear();
        settings.clear();
        mostOpen.set(open.size());
    }

    /** The texts of the statements. */
    public List<String> statements() {
        return statements;
    }

    /** What was bound to them. */
    public List<String> parameters() {
        return parameters;
    }

    /** Calls that change a connection, and commits and rollbacks. */
    public List<String> settings() {
        return settings;
    }

    /** How many connections are open. */
    public int open() {
        return open.size();
    }

    /** How many were open at a time. */
    public int mostOpen() {
        return mostOpen.get();
    }

    /** Ends all sessions, as a server or a pool would. */
    public void cut() throws SQLException {
        for (Connection connection : open) {
            connection.close();
        }
    }

    private Connection connection(Connection target) {
        open.add(target);
        mostOpen.accumulateAndGet(open.size(), Math::max);
        return proxy(Connection.class, (proxy, method, arguments) -> {
            String name = method.getName();
            if (name.equals("close") || name.equals("abort")) {
                open.remove(target);
                if (name.equals("close")) {
                    onClose.run();
                }
            } else if (name.startsWith("set") || name.equals("commit") || name.equals("rollback")) {
                settings.add(name);
            }
            Object result = invoke(target, method, arguments);
            if (name.equals("commit")) {
                afterCommit.at(name);
            }
            return name.equals("prepareStatement")
                    ? statement((PreparedStatement) result, (String) arguments[0])
                    : result;
        });
    }

    private PreparedStatement statement(PreparedStatement target, String sql) {
        AtomicInteger rows = new AtomicInteger();
        return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
            if (method.getName().equals("setArray")) {
                rows.set(((Object[]) ((Array) arguments[1]).getArray()).length);
            }
            if (method.getName().startsWith("set") && arguments.length > 1) {
                parameters.add(String.valueOf(arguments[1]));
            }
            if (!method.getName().startsWith("execute")) {
                Object result = invoke(target, method, arguments);
                if (method.getName().equals("close")) {
                    afterClose.at(sql);
                }
                return result;
            }
            statements.add(sql);
            before.at(sql);
            if (rows.get() > mostRows) {
                throw new SQLException("canceling statement due to statement timeout", "57014");
            }
            Object result = invoke(target, method, arguments);
            after.at(sql);
            return result;
        });
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(ObservedSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
