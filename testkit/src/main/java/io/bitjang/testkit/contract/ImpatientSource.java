// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import io.bitjang.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** Connections that give up on a silent server after three seconds. */
final class ImpatientSource extends PlainSource {

    private final TestDatabase database;
    private final String url;

    ImpatientSource(TestDatabase database) {
        this.database = database;
        String plain = database.jdbcUrl();
        String separator = plain.contains("?") ? "&" : "?";
        this.url = switch (database.name()) {
            case "postgresql" -> plain + separator + "socketTimeout=3";
            case "h2" -> plain + ";NETWORK_TIMEOUT=3000";
            default -> plain + separator + "socketTimeout=3000&connectTimeout=3000";
        };
    }

    @Override
    public Connection getConnection() throws SQLException {
        return DriverManager.getConnection(url, database.user(), database.password());
    }
}
