// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connections as somebody else has set them up: one line of {@link HostileSettings}. Immutable.
 *
 * @param name what is different, for the report
 * @param url the JDBC address, if it is not that of the tests
 * @param parameters what is added to the address
 * @param statements run on each connection when it is opened
 * @param autoCommit whether the pool's connections commit by themselves
 * @param isolation the pool's isolation level; null for the database's own
 * @param refusal what {@code Locks.create} must say about it; null if everything must work
 */
record HostileSetting(
        String name,
        @Nullable String url,
        String parameters,
        List<String> statements,
        boolean autoCommit,
        @Nullable String isolation,
        @Nullable String refusal) {

    /** Statements that a pool, a proxy or an administrator runs on each new connection. */
    static HostileSetting session(String... statements) {
        return new HostileSetting(String.join("; ", statements), null, "", List.of(statements), true, null, null);
    }

    /** Settings of the driver, or of a database of its own on H2. */
    static HostileSetting parameters(String parameters) {
        return new HostileSetting(parameters, null, parameters, List.of(), true, null, null);
    }

    /** Another way to the same server. */
    static HostileSetting address(String name, String url) {
        return new HostileSetting(name, url, "", List.of(), true, null, null);
    }

    /** Settings of the pool. */
    static HostileSetting pool(boolean autoCommit, String isolation) {
        return new HostileSetting(
                isolation + (autoCommit ? "" : ", auto-commit off"), null, "", List.of(), autoCommit, isolation, null);
    }

    /** And this as well. */
    HostileSetting and(String... more) {
        return new HostileSetting(
                name + "; " + String.join("; ", more), url, parameters, List.of(more), autoCommit, isolation, refusal);
    }

    /** In a pool without auto-commit. */
    HostileSetting withoutAutoCommit() {
        return new HostileSetting(name + ", auto-commit off", url, parameters, statements, false, isolation, refusal);
    }

    /** It is refused at start, in words like these. */
    HostileSetting refused(String because) {
        return new HostileSetting(name, url, parameters, statements, autoCommit, isolation, because);
    }

    /** A pool of such connections, which the caller closes. */
    HikariDataSource open(TestDatabase database) {
        String address = (url == null ? database.jdbcUrl() : url) + separator(database) + parameters;
        HikariConfig config = new HikariConfig();
        config.setDataSource(new PlainSource() {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = DriverManager.getConnection(address, database.user(), database.password());
                try (Statement statement = connection.createStatement()) {
                    for (String sql : statements) {
                        statement.execute(sql);
                    }
                } catch (SQLException e) {
                    connection.close();
                    throw e;
                }
                return connection;
            }

            @Override
            public int getLoginTimeout() {
                return 5;
            }
        });
        config.setMaximumPoolSize(8);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(10_000);
        config.setAutoCommit(autoCommit);
        config.setTransactionIsolation(isolation);
        return new HikariDataSource(config);
    }

    private String separator(TestDatabase database) {
        if (parameters.isEmpty()) {
            return "";
        }
        if (database.name().equals("h2")) {
            return ";";
        }
        return (url == null ? database.jdbcUrl() : url).contains("?") ? "&" : "?";
    }

    @Override
    public String toString() {
        return name + (refusal == null ? "" : " (refused)");
    }
}
