// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import io.bitjang.LockingFailException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import javax.sql.DataSource;

/** Finds out which database it is. An unknown one is an error, never a guess. */
public final class Dialects {

    private Dialects() {}

    /** Asks the database's driver. */
    public static Dialect detect(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData data = connection.getMetaData();
            return of(data.getDatabaseProductName(), data.getDatabaseProductVersion());
        } catch (SQLException e) {
            throw new LockingFailException(null, "The database could not be asked what it is: " + e.getMessage(), e);
        }
    }

    static Dialect of(String product, String version) {
        String name = product.toLowerCase(Locale.ROOT);
        // MySQL's driver calls MariaDB "MySQL" and gives it away in the version
        if (name.contains("mariadb") || version.toLowerCase(Locale.ROOT).contains("mariadb")) {
            return new MariaDbDialect();
        }
        return switch (name) {
            case "postgresql" -> new PostgresDialect();
            case "mysql" -> requireAtLeast(8, product, version, new MySqlDialect());
            case "h2" -> requireAtLeast(2, product, version, new H2Dialect());
            default ->
                throw new IllegalArgumentException("Bitjang does not know the database '" + product + "' (" + version
                        + "). It knows PostgreSQL, MySQL 8, MariaDB and H2.");
        };
    }

    private static Dialect requireAtLeast(int major, String product, String version, Dialect dialect) {
        int found = Integer.parseInt(version.replaceFirst("^(\\d+).*", "$1"));
        if (found < major) {
            throw new IllegalArgumentException("Bitjang needs " + product + " " + major + " or later, not " + version);
        }
        return dialect;
    }
}
