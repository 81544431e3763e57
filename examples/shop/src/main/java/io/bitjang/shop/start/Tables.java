// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.start;

import io.bitjang.shop.cards.H2Functions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Objects;

/** The shop's tables: made if they are missing, refused if they are of another version. */
public final class Tables {

    private static final int VERSION = 2;
    private static final String SCRIPT = "/io/bitjang/shop/tables.sql";

    private Tables() {}

    /**
     * Makes them.
     *
     * @throws Failure if there are some of another version, or they can't be made
     */
    public static void prepare(Database database) {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS shop_schema (version int NOT NULL PRIMARY KEY)");
            int found = version(statement);
            if (found == 0) {
                String texts = texts(connection.getMetaData().getDatabaseProductName());
                for (String each : script()) {
                    statement.execute(each.startsWith("CREATE TABLE") ? each + texts : each);
                }
                if (database.url().startsWith("jdbc:h2:")) {
                    H2Functions.create(statement);
                }
                statement.execute("INSERT INTO shop_schema VALUES (" + VERSION + ")");
            } else if (found != VERSION) {
                throw new Failure(
                        "The tables shop_* in " + database.title() + " are of version " + found
                                + ", and this shop needs version " + VERSION
                                + ": drop them, or name another database with --url",
                        null);
            }
        } catch (SQLException e) {
            throw new Failure("The shop's tables can't be made: " + Failure.firstLine(e), e);
        }
    }

    /** Any text, and no two that are taken for one: what MySQL and MariaDB have to be told. */
    private static String texts(String product) {
        return switch (product) {
            case "MySQL" -> " CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin";
            case "MariaDB" -> " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
            default -> "";
        };
    }

    private static int version(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT COALESCE(MAX(version), 0) FROM shop_schema")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static String[] script() {
        try (InputStream in = Objects.requireNonNull(Tables.class.getResourceAsStream(SCRIPT), SCRIPT)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("--[^\n]*", "");
            return Arrays.stream(text.split(";"))
                    .map(String::strip)
                    .filter(each -> !each.isEmpty())
                    .toArray(String[]::new);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
