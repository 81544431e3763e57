// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import io.bitjang.LockingFailException;
import io.bitjang.internal.work.Log;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Finds out which database is there, and whether locks can be trusted on it. An unknown one is an error, never a guess. */
public final class Dialects {

    private Dialects() {}

    /**
     * Asks the driver, then the server itself: many speak the protocol of a database whose locks they don't have.
     *
     * @throws IllegalArgumentException if it is none of the databases that Bitjang knows
     * @throws LockingFailException if locks can't be trusted there
     */
    public static Dialect detect(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData data = connection.getMetaData();
            String product = data.getDatabaseProductName();
            String version = data.getDatabaseProductVersion();
            Dialect dialect = of(product, version, false); // an unknown one is asked no more
            boolean autoCommit = connection.getAutoCommit();
            Map<String, String> facts = new HashMap<>();
            facts.put(Dialect.DRIVERS_ADDRESS, String.valueOf(data.getURL()));
            facts.put(Dialect.DRIVERS_AUTO_COMMIT, autoCommit ? "ON" : "OFF");
            boolean serializable = connection.getTransactionIsolation() == Connection.TRANSACTION_SERIALIZABLE;
            facts.put(Dialect.DRIVERS_ISOLATION, String.valueOf(connection.getTransactionIsolation()));
            if (!(dataSource instanceof Unproven)) {
                requireFit(connection, dialect, facts);
            }
            if (!autoCommit) {
                connection.rollback();
            }
            // someone may have set it without the driver's knowledge
            boolean readsWait = !autoCommit && (serializable || MySqlFamily.isSerializable(facts));
            return of(product, version, readsWait);
        } catch (SQLException e) {
            throw new LockingFailException(null, "The database could not be asked what it is: " + e.getMessage(), e);
        }
    }

    /** A data source of the contract kit, for servers that are to be proved: nothing is refused. No setting leads here. */
    public interface Unproven {}

    /**
     * Returns the dialect of a product in a version.
     *
     * @param readsWait whether connections come without auto-commit and at SERIALIZABLE
     */
    public static Dialect of(String product, String version, boolean readsWait) {
        String name = product.toLowerCase(Locale.ROOT);
        // MySQL's driver calls MariaDB "MySQL" and gives it away in the version, where an old number may stand in front
        Matcher mariaDb = Pattern.compile("([0-9.]+)-mariadb").matcher(version.toLowerCase(Locale.ROOT));
        if (name.contains("mariadb") || mariaDb.find()) {
            String number = mariaDb.reset().find() ? mariaDb.group(1) : version;
            return requireAtLeast("MariaDB", number, new MariaDbDialect(readsWait), 10, 6);
        }
        return switch (name) {
            case "postgresql" -> requireAtLeast("PostgreSQL", version, new PostgresDialect(), 13);
            case "mysql" -> requireAtLeast("MySQL", version, new MySqlDialect(readsWait), 8, 0, 17);
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
            found[i] = parts[i].isEmpty() ? 0 : number(parts[i]);
        }
        if (Arrays.compare(found, least) < 0) {
            String wanted = Arrays.stream(least).mapToObj(Integer::toString).collect(Collectors.joining("."));
            throw new IllegalArgumentException("Bitjang needs " + product + " " + wanted + " or later, not " + version);
        }
        return dialect;
    }

    /** Reads a number, however many digits it has. */
    private static int number(String digits) {
        return new BigInteger(digits).min(BigInteger.valueOf(Integer.MAX_VALUE)).intValue();
    }

    private static void requireFit(Connection connection, Dialect dialect, Map<String, String> facts)
            throws SQLException {
        requireFit(dialect, facts);
        for (String question : dialect.questions()) {
            int known = facts.size();
            try (PreparedStatement statement = connection.prepareStatement(question)) {
                if (question.contains("?")) {
                    statement.setString(1, Dialect.SAMPLE);
                }
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        facts.put(rows.getString(1), String.valueOf(rows.getString(2)));
                    }
                }
            }
            if (facts.size() == known) {
                throw new LockingFailException(
                        null, "The database does not answer '" + question + "': is there a limit of rows?", null);
            }
            requireFit(dialect, facts);
        }
        @Nullable String notice = dialect.notice(connection, facts);
        if (notice != null) {
            Log.warn(notice);
        }
    }

    private static void requireFit(Dialect dialect, Map<String, String> facts) {
        Lookalikes.refuse(dialect.id(), facts);
        @Nullable String reason = dialect.unfit(facts);
        if (reason != null) {
            throw new LockingFailException(null, "Locks can't be trusted here: " + reason, null);
        }
    }
}
