// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The databases of this JVM's tests. Each is started when it is first asked for, once, on a free port of 127.0.0.1, and ends with
 * the JVM, even if the JVM is killed, unless {@code bitjang.testkit.shared} says otherwise.
 *
 * <p>The binaries of PostgreSQL and MariaDB come as artifacts on the test class path, those of MySQL as a zip; all are unpacked once
 * per user. System properties:
 *
 * <ul>
 *   <li>{@code bitjang.testkit.databases}: the databases to test on, separated by commas; all four by default
 *   <li>{@code bitjang.testkit.<name>.url}, {@code .user}, {@code .password}: a server of your own instead of one that is started;
 *       only one JVM at a time may test on it
 *   <li>{@code bitjang.testkit.mysql.zip}: the path of MySQL's zip; by default it is looked for in the local Maven repository
 *   <li>{@code bitjang.testkit.cache}: where to unpack; by default {@code ~/.cache/bitjang/testkit}
 *   <li>{@code bitjang.testkit.durable}: {@code true} to let every commit reach the disk, as a benchmark must
 *   <li>{@code bitjang.testkit.shared}: with {@code build}, the JVMs of one Maven build use the same servers, one JVM after the other. A JVM
 *       has a server to itself while it runs; the next one gets it with an empty database. The servers end with Maven. A process id
 *       instead of {@code build} ties them to that process. This works on Linux; elsewhere, and with {@code durable}, each JVM
 *       starts its own
 * </ul>
 *
 * <p>Every server lives in a time zone of its own, so that a test notices code that depends on it.
 */
public final class TestDatabases {

    private TestDatabases() {}

    /** PostgreSQL 18. */
    public static TestDatabase postgresql() {
        return Running.database("postgresql");
    }

    /** MySQL 8.0. */
    public static TestDatabase mysql() {
        return Running.database("mysql");
    }

    /** MariaDB 11.4. */
    public static TestDatabase mariadb() {
        return Running.database("mariadb");
    }

    /** H2 inside this JVM, in memory. */
    public static TestDatabase h2() {
        return Running.database("h2");
    }

    /** H2 as a server, for tests with several JVMs, a {@link TcpProxy} or a restart. */
    public static TestDatabase h2Server() {
        return Running.database("h2-server");
    }

    /**
     * The names of the databases to test on.
     *
     * @throws IllegalArgumentException when {@code bitjang.testkit.databases} names one that is not known
     */
    public static List<String> selected() {
        return Settings.selected();
    }

    /** The last lines of the logs of the servers that this JVM uses, to explain a test that failed. */
    public static String logs() {
        return Running.folders().stream()
                .map(folder -> "-- " + folder.getFileName() + "\n" + ServerProcess.logTail(folder) + "\n")
                .collect(Collectors.joining());
    }

    /**
     * The database of that name, selected or not.
     *
     * @param name {@code postgresql}, {@code mysql}, {@code mariadb}, {@code h2} or {@code h2-server}
     */
    public static TestDatabase byName(String name) {
        return Running.database(name);
    }
}
