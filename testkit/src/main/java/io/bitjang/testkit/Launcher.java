// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How one kind of server is started. */
interface Launcher {

    String DATABASE = "bitjang";
    String USER = "bitjang";
    String PASSWORD = "bitjang";
    String HOST = "127.0.0.1";
    int MAX_CONNECTIONS = 300;

    String name();

    String url(int port);

    ServerProcess.Signals signals();

    /** Fills the new server's folder. */
    void prepare(Path folder) throws IOException;

    List<String> command(Path folder, int port) throws IOException;

    /** Where {@link #emptying} is run: not in a database that it drops. */
    default String adminUrl(int port) {
        return url(port);
    }

    /** The statements after which the server is as new, for whoever takes it over. */
    List<String> emptying();

    /** What is to be done over JDBC before the server is stopped with its data kept. */
    default void beforeStop(TestDatabase database) {}

    /** Makes the folder for a server's temporary files, next to its data. */
    static Path temporary(Path data) throws IOException {
        return Files.createDirectories(data.resolveSibling("tmp"));
    }

    /** Copies a prepared data folder with its permissions, which servers insist on. */
    static void copy(Path from, Path to) throws IOException {
        Shell.require(List.of("cp", "-R", "-p", from.toString(), to.toString()), "");
    }
}
