// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** H2 inside this JVM. */
final class H2InProcess {

    private H2InProcess() {}

    static TestDatabase open() {
        // The session's time zone is the JVM's unless it is told another.
        String url =
                "jdbc:h2:mem:bitjang" + ProcessHandle.current().pid() + ";DB_CLOSE_DELAY=-1;TIME ZONE=Australia/Eucla";
        TestDatabase database = new JdbcDatabase(
                "h2", new DriverDataSource(url, Launcher.USER, Launcher.PASSWORD), H2InProcess::restart);
        database.execute("SELECT 1");
        return database;
    }

    /** Memory does not outlive a shutdown, so the data goes through a script. */
    private static void restart(TestDatabase database) {
        try {
            Path script = Files.createTempFile("bitjang-h2", ".sql");
            try {
                database.execute("SCRIPT TO '" + script + "'");
                database.execute("SHUTDOWN IMMEDIATELY");
                database.execute("RUNSCRIPT FROM '" + script + "'");
            } finally {
                Files.deleteIfExists(script);
            }
        } catch (IOException e) {
            throw new TestDatabaseException("Cannot restart H2 in memory", e);
        }
    }
}
