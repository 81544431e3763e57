// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import javax.sql.DataSource;

/**
 * One running database, shared by all tests of this JVM. Thread-safe.
 *
 * @see TestDatabases
 */
public interface TestDatabase {

    /** The product: {@code postgresql}, {@code mysql}, {@code mariadb} or {@code h2}. */
    String name();

    /** The JDBC address, without user and password. */
    String jdbcUrl();

    /** The user to connect as. On a server that the testkit started it may do everything. */
    String user();

    /** The password of {@link #user()}. */
    String password();

    /** The host of the server. An H2 inside this JVM has none and throws {@link UnsupportedOperationException}. */
    String address();

    /** The port of the server. An H2 inside this JVM has none and throws {@link UnsupportedOperationException}. */
    int port();

    /** A source without a pool: each {@code getConnection()} opens a connection of its own. */
    DataSource dataSource();

    /**
     * A new pool of exactly {@code size} connections, which gives up after five seconds when all are in use. The caller closes it.
     */
    HikariDataSource pool(int size);

    /**
     * Lets the server end every session of this database but {@code by}, and returns when they are gone.
     *
     * @param by a connection to this database that survives
     */
    void killSessions(Connection by);

    /**
     * Stops the server and starts it again on the same port with the same data; every connection is lost. Returns when the server
     * accepts connections.
     *
     * @throws UnsupportedOperationException when the server {@linkplain #isExternal() is not ours}
     */
    void restart();

    /** Whether the user gave the server ({@code bitjang.testkit.<name>.url}) instead of the testkit starting it. */
    boolean isExternal();

    /** Runs one statement on a connection of its own, with auto-commit. */
    void execute(String sql);

    /**
     * The same database, reached over another port of this machine: the way through a {@link TcpProxy}.
     *
     * @param port the local port that leads to the server
     */
    TestDatabase through(int port);
}
