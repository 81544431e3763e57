// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.start;

import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabaseException;
import io.bitjang.testkit.TestDatabases;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;
import org.h2.tools.Server;

/**
 * The database of a shop, up and running.
 *
 * @param title for people
 * @param url for the shop itself
 * @param urlForNodes for other processes
 */
public record Database(String title, String url, String urlForNodes, String user, String password) {

    private static final int PATIENCE_SECONDS = 5;

    /**
     * Starts the one that was asked for, or finds the user's own.
     *
     * @throws Failure if it can't be reached
     */
    public static Database start(Options options) {
        String url = options.url();
        if (url != null) {
            if (url.matches("jdbc:h2:(tcp|ssl):.*")) { // it does not know the functions of scene 4
                throw new Failure(
                        "The shop runs in one process with H2, not on a server of H2's: leave --url out, or name another database",
                        null);
            }
            Database own = new Database(withoutSecrets(url), url, url, options.user(), options.password());
            own.requireReachable();
            return own;
        }
        try {
            return switch (options.database()) {
                case "postgresql" -> started("PostgreSQL", TestDatabases.postgresql());
                case "mysql" -> started("MySQL", TestDatabases.mysql());
                case "mariadb" -> started("MariaDB", TestDatabases.mariadb());
                default -> h2();
            };
        } catch (TestDatabaseException e) {
            throw new Failure(Failure.firstLine(e), e);
        }
    }

    private static Database started(String title, TestDatabase server) {
        return new Database(
                title + ", started for this shop",
                server.jdbcUrl(),
                server.jdbcUrl(),
                server.user(),
                server.password());
    }

    /** In memory, and served to the nodes: on this machine only, under a password that is made up anew each time. */
    private static Database h2() {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        try {
            String password = UUID.randomUUID().toString();
            String name = "mem:shop-" + UUID.randomUUID().toString().substring(0, 8);
            String url = "jdbc:h2:" + name + ";DB_CLOSE_DELAY=-1";
            DriverManager.getConnection(url, "shop", password).close();
            Server server =
                    Server.createTcpServer("-tcpPort", "0", "-tcpDaemon").start();
            String forNodes = "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/" + name;
            return new Database("H2, in memory", url, forNodes, "shop", password);
        } catch (SQLException e) {
            throw new Failure("H2 can't be started: " + Failure.firstLine(e), e);
        }
    }

    /** One connection of its own. */
    Connection connect() throws SQLException {
        return DriverManager.getConnection(url, user, password);
    }

    private void requireReachable() {
        DriverManager.setLoginTimeout(PATIENCE_SECONDS);
        try (Connection ignored = connect()) {
            DriverManager.setLoginTimeout(0);
        } catch (SQLException e) {
            throw new Failure(
                    "The database " + title + " can't be reached ("
                            + Failure.firstLine(e).replace(url, title)
                            + "): start it, or correct --url, --user and --password",
                    e);
        }
    }

    private static String withoutSecrets(String url) {
        return url.replaceFirst("[?;].*", "").replaceFirst("//[^/@]*@", "//");
    }
}
