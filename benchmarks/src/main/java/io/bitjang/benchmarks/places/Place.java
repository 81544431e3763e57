// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.places;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;

/**
 * Where locks live, as a process needs to know it.
 *
 * @param name as the tables of the report have it
 * @param kind what runs there
 * @param address how to reach it
 * @param user of a database
 * @param password of that user
 */
public record Place(String name, Kind kind, String address, String user, String password) {

    /** What runs at a place. */
    public enum Kind {
        DATABASE,
        REDIS,
        ZOOKEEPER
    }

    /** As many connections as the busiest scenario of one process has threads. */
    public static final int POOL = 16;

    /** As arguments for another process. */
    public List<String> arguments() {
        return List.of(name, kind.name(), address, user, password);
    }

    /** From the arguments of another process. */
    public static Place of(List<String> arguments) {
        return new Place(
                arguments.get(0), Kind.valueOf(arguments.get(1)), arguments.get(2), arguments.get(3), arguments.get(4));
    }

    /** A pool like an application's. */
    public HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(address);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(POOL);
        if (name.equals("mysql")) {
            // as HikariCP recommends, but for preparing on the server: its driver parses a statement anew for each call
            // otherwise
            config.addDataSourceProperty("cachePrepStmts", "true");
            config.addDataSourceProperty("prepStmtCacheSqlLimit", "2048");
        }
        return new HikariDataSource(config);
    }

    /** A connection past every pool. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(address, user, password);
    }

    /** Whether it is PostgreSQL. */
    public boolean isPostgres() {
        return name.equals("postgresql");
    }

    /** Whether it is MySQL or MariaDB. */
    public boolean isMySqlFamily() {
        return name.equals("mysql") || name.equals("mariadb");
    }

    /** Whether it is H2. */
    public boolean isH2() {
        return name.equals("h2");
    }
}
