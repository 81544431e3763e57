// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import io.bitjang.LockingFailException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
        // MySQL's driver calls MariaDB "MySQL" and gives it away in the version, where an old number may stand in front
        Matcher mariaDb = Pattern.compile("([0-9.]+)-mariadb").matcher(version.toLowerCase(Locale.ROOT));
        if (name.contains("mariadb") || mariaDb.find()) {
            String number = mariaDb.reset().find() ? mariaDb.group(1) : version;
            return requireAtLeast("MariaDB", number, new MariaDbDialect(), 10, 6);
        }
        return switch (name) {
            case "postgresql" -> requireAtLeast("PostgreSQL", version, new PostgresDialect(), 13);
            case "mysql" -> requireAtLeast("MySQL", version, new MySqlDialect(), 8, 0, 17);
            case "h2" -> requireAtLeast("H2", version, new H2Dialect(), 2);
            default ->
                throw new IllegalArgumentException("Bitjang does not know the database '" + product + "' (" + version
                        + "). It knows PostgreSQL, MySQL, MariaDB and H2.");
        };
    }

    private static Dialect requireAtLeast(String product, String version, Dialect dialect, int... least) {
        String[] parts = version.split("\\D+");
        int[] found = new int[least.length];
        for (int i = 0; i < found.length && i < parts.length; i++) {
            found[i] = parts[i].isEmpty() ? 0 : Integer.parseInt(parts[i]);
        }
        if (Arrays.compare(found, least) < 0) {
            String wanted = Arrays.stream(least).mapToObj(Integer::toString).collect(Collectors.joining("."));
            throw new IllegalArgumentException("Bitjang needs " + product + " " + wanted + " or later, not " + version);
        }
        return dialect;
    }
}
