// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.hostile;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
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
