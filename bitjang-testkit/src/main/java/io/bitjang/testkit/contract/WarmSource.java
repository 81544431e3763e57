// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import io.bitjang.testkit.TestDatabase;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/**
 * Connections that give up on a silent server after a second, one of which can be opened ahead of its use. Without a pool, whose own
 * check of an idle connection would come before the statement.
 */
final class WarmSource implements AutoCloseable {

    private final TestDatabase database;
    private final String url;
    private final ConcurrentLinkedQueue<Connection> warm = new ConcurrentLinkedQueue<>();

    WarmSource(TestDatabase database) {
        this.database = database;
        String plain = database.jdbcUrl();
        this.url = switch (database.name()) {
            case "postgresql" -> plain + (plain.contains("?") ? "&" : "?") + "socketTimeout=1";
            case "h2" -> plain + ";NETWORK_TIMEOUT=1000";
            default -> plain + (plain.contains("?") ? "&" : "?") + "socketTimeout=1000&connectTimeout=1000";
        };
    }

    /** Opens a connection for the next who asks. */
    void warm() throws SQLException {
        warm.add(open());
    }

    private Connection open() throws SQLException {
        return DriverManager.getConnection(url, database.user(), database.password());
    }

    DataSource asDataSource() {
        return (DataSource) Proxy.newProxyInstance(
                WarmSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("getConnection")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    Connection ready = warm.poll();
                    return ready != null ? ready : open();
                });
    }

    @Override
    public void close() throws SQLException {
        for (Connection left = warm.poll(); left != null; left = warm.poll()) {
            left.close();
        }
    }
}
