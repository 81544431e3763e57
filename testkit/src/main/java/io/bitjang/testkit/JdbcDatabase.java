// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database behind a JDBC address. */
final class JdbcDatabase implements TestDatabase {

    private static final Pattern HOST_AND_PORT = Pattern.compile("//([^:/?;]+)(?::(\\d+))?");

    private final String name;
    private final DriverDataSource source;
    private final @Nullable Consumer<TestDatabase> restart;

    private final TestDatabase origin;

    /** @param restart how to restart it, or null when the server is not ours */
    JdbcDatabase(String name, DriverDataSource source, @Nullable Consumer<TestDatabase> restart) {
        this.name = name;
        this.source = source;
        this.restart = restart;
        this.origin = this;
    }

    private JdbcDatabase(JdbcDatabase direct, String url) {
        this.name = direct.name;
        this.source = new DriverDataSource(url, direct.user(), direct.password());
        this.restart = direct.restart;
        this.origin = direct.origin;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String jdbcUrl() {
        return source.url();
    }

    @Override
    public String user() {
        return source.user();
    }

    @Override
    public String password() {
        return source.password();
    }

    @Override
    public String address() {
        return hostAndPort().group(1);
    }

    @Override
    public int port() {
        String port = hostAndPort().group(2);
        if (port != null) {
            return Integer.parseInt(port);
        }
        return switch (name) {
            case "postgresql" -> 5432;
            case "h2" -> 9092;
            default -> 3306;
        };
    }

    @Override
    public DataSource dataSource() {
        return source;
    }

    @Override
    public HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0); // a pool that is closed while it fills leaves a connection behind
        // also what a new connection may take, on a machine that stands still for a moment
        config.setConnectionTimeout(5000);
        config.setValidationTimeout(1000);
        config.setPoolName("testkit-" + name);
        return Pools.remember(origin, new HikariDataSource(config));
    }

    @Override
    public void killSessions(Connection by) {
        try {
            Sessions.of(name).killOthers(by);
        } catch (SQLException e) {
            throw new TestDatabaseException("Cannot kill the sessions of " + source + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void restart() {
        if (restart == null) {
            throw new UnsupportedOperationException("The " + name + " server at " + jdbcUrl()
                    + " is not the testkit's to restart: it was given by " + Settings.property(name + ".url"));
        }
        restart.accept(origin);
    }

    @Override
    public boolean isExternal() {
        return restart == null;
    }

    @Override
    public void execute(String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new TestDatabaseException("On " + source + ": " + sql + ": " + e.getMessage(), e);
        }
    }

    @Override
    public TestDatabase through(int port) {
        Matcher found = hostAndPort();
        String url = jdbcUrl().substring(0, found.start()) + "//" + Launcher.HOST + ":" + port
                + jdbcUrl().substring(found.end());
        return new JdbcDatabase(this, url);
    }

    private Matcher hostAndPort() {
        Matcher matcher = HOST_AND_PORT.matcher(jdbcUrl());
        if (!matcher.find()) {
            throw new UnsupportedOperationException(
                    jdbcUrl() + " is not reached over the network; use TestDatabases.h2Server()");
        }
        return matcher;
    }

    @Override
    public String toString() {
        return name + " (" + source + ")";
    }
}
