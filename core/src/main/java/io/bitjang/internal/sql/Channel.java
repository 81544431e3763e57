// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.dialect.Dialect.Notifying;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A connection on which the database tells that locks were freed. The driver's class is reached by reflection, because the core
 * depends on no driver. Not thread-safe.
 */
public final class Channel implements AutoCloseable {

    private final Connection connection;
    private final boolean autoCommit;
    private final String name;
    private final Object driverConnection;
    private final Method getNotifications;
    private final Method getParameter;

    /** Begins to listen on the connection. */
    Channel(Connection connection, Notifying notifying) throws SQLException {
        this.connection = connection;
        try {
            ClassLoader loader = connection.getMetaData().getClass().getClassLoader();
            Class<?> type = Class.forName(notifying.driver(), true, loader);
            this.driverConnection = connection.unwrap(type);
            this.getNotifications = type.getMethod("getNotifications", int.class);
            // the interface's method: the class that implements it is not public
            this.getParameter =
                    getNotifications.getReturnType().getComponentType().getMethod("getParameter");
        } catch (ReflectiveOperationException e) {
            throw new SQLException("This driver gives no notifications: " + e, e);
        }
        this.autoCommit = connection.getAutoCommit();
        if (!autoCommit) {
            connection.setAutoCommit(true);
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(notifying.channel())) {
            row.next();
            this.name = row.getString(1);
        }
        execute("LISTEN");
    }

    /** Waits for so many milliseconds at most, and returns the locks that were freed. */
    public List<LockName> receive(int millis) {
        try {
            List<LockName> freed = new ArrayList<>();
            Object[] received = (Object[]) getNotifications.invoke(driverConnection, millis);
            for (Object notification : received == null ? new Object[0] : received) {
                String payload = (String) getParameter.invoke(notification);
                parse(payload).ifPresent(freed::add);
            }
            return freed;
        } catch (InvocationTargetException e) {
            throw Database.failure(new SQLException("The connection for notifications broke: " + e.getCause(), e));
        } catch (ReflectiveOperationException e) {
            throw Database.failure(new SQLException("This driver gives no notifications: " + e, e));
        }
    }

    /** Reads the payload, which is the length of the type in code points, a colon, the type and the id. */
    private static Optional<LockName> parse(String payload) {
        try {
            int colon = payload.indexOf(':');
            String both = payload.substring(colon + 1);
            int end = both.offsetByCodePoints(0, Integer.parseInt(payload.substring(0, colon)));
            return Optional.of(LockName.of(both.substring(0, end), both.substring(end)));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            // another application uses the channel's name
            return Optional.empty();
        }
    }

    /** Gives the connection back as it was. */
    @Override
    public void close() {
        try (Connection toClose = connection) {
            execute("UNLISTEN");
            if (!autoCommit) {
                toClose.setAutoCommit(false);
            }
        } catch (SQLException e) {
            throw Database.failure(e);
        }
    }

    private void execute(String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command + " \"" + name + "\"");
        }
    }
}
