// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.hostile;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Data sources that are not what they seem. */
public final class Rewriting {

    private Rewriting() {}

    /** The server is sent other statements than it is asked: so it answers as another server would. */
    public static DataSource statements(DataSource source, UnaryOperator<String> rewritten) {
        return connections(
                source,
                connection -> proxy(Connection.class, connection, (method, arguments) -> {
                    if (method.equals("prepareStatement")) {
                        arguments[0] = rewritten.apply((String) arguments[0]);
                    }
                }));
    }

    /** Each connection is handed out after these statements. */
    public static DataSource sessions(DataSource source, List<String> statements) {
        return connections(source, connection -> {
            try (Statement statement = connection.createStatement()) {
                for (String sql : statements) {
                    statement.execute(sql);
                }
            }
            return connection;
        });
    }

    /**
     * A statement is answered twice, once: by a row in which one column has the value of a parameter, and by the real row.
     *
     * @param text what the statement contains
     */
    public static DataSource answeredTwice(DataSource source, String text, String column, int parameter) {
        AtomicBoolean first = new AtomicBoolean(true);
        return connections(
                source,
                connection -> returning(
                        Connection.class,
                        connection,
                        (method, arguments, result) -> result instanceof PreparedStatement statement
                                        && ((String) arguments[0]).contains(text)
                                        && first.getAndSet(false)
                                ? answeredTwice(statement, column, parameter)
                                : result));
    }

    private static PreparedStatement answeredTwice(PreparedStatement statement, String column, int parameter) {
        AtomicReference<Object> value = new AtomicReference<>();
        return returning(PreparedStatement.class, statement, (method, arguments, result) -> {
            if (method.equals("setString") && arguments[0].equals(parameter)) {
                value.set(arguments[1]);
            }
            return result instanceof ResultSet rows ? twice(rows, column, value.get()) : result;
        });
    }

    private static ResultSet twice(ResultSet rows, String column, Object value) throws SQLException {
        return twice(rows, "getString", rows.findColumn(column), real -> value);
    }

    private static ResultSet twice(ResultSet rows, String getter, int index, UnaryOperator<Object> forgery) {
        AtomicInteger row = new AtomicInteger();
        return (ResultSet) Proxy.newProxyInstance(
                ResultSet.class.getClassLoader(), new Class<?>[] {ResultSet.class}, (self, method, arguments) -> {
                    if (method.getName().equals("next") && row.incrementAndGet() == 2) {
                        return true;
                    }
                    Object real = method.invoke(rows, arguments);
                    boolean forged = row.get() == 1 && method.getName().equals(getter) && arguments[0].equals(index);
                    return forged ? forgery.apply(real) : real;
                });
    }

    /**
     * A statement is answered by one row more, once: the first comes twice, at first with another number.
     *
     * @param text what the statement contains
     * @param column the number's column
     */
    public static DataSource answeredTwice(DataSource source, String text, int column, LongUnaryOperator undone) {
        AtomicBoolean first = new AtomicBoolean(true);
        return connections(
                source,
                connection -> returning(
                        Connection.class,
                        connection,
                        (method, arguments, result) -> result instanceof PreparedStatement statement
                                        && ((String) arguments[0]).contains(text)
                                        && first.getAndSet(false)
                                ? answeredTwice(statement, column, undone)
                                : result));
    }

    private static PreparedStatement answeredTwice(PreparedStatement statement, int column, LongUnaryOperator undone) {
        return returning(
                PreparedStatement.class,
                statement,
                (method, arguments, result) -> result instanceof ResultSet rows
                        ? twice(rows, "getLong", column, real -> undone.applyAsLong((long) real))
                        : result);
    }

    private interface After {
        Object result(String method, Object[] arguments, Object result) throws SQLException;
    }

    private static <T> T returning(Class<T> type, T target, After after) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return after.result(method.getName(), arguments, method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private interface Change {
        Connection apply(Connection connection) throws SQLException;
    }

    private interface Before {
        void call(String method, Object[] arguments);
    }

    private static DataSource connections(DataSource source, Change change) {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                    Object result = method.invoke(source, arguments);
                    return result instanceof Connection connection ? change.apply(connection) : result;
                });
    }

    private static <T> T proxy(Class<T> type, T target, Before before) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    before.call(method.getName(), arguments);
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
