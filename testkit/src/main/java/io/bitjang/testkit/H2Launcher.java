// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Starts H2's TCP server in a JVM of its own. */
final class H2Launcher implements Launcher {

    @Override
    public String name() {
        return "h2";
    }

    /** Committed means written, or a restart would lose what H2 keeps back for half a second. */
    @Override
    public String url(int port) {
        return "jdbc:h2:tcp://" + HOST + ":" + port + "/./" + DATABASE + ";DB_CLOSE_DELAY=-1;WRITE_DELAY=0";
    }

    @Override
    public List<String> emptying() {
        return List.of("DROP ALL OBJECTS");
    }

    @Override
    public ServerProcess.Signals signals() {
        return new ServerProcess.Signals("KILL", "KILL");
    }

    @Override
    public void prepare(Path folder) throws IOException {
        Files.createDirectory(folder.resolve("data"));
    }

    @Override
    public List<String> command(Path folder, int port) throws IOException {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Duser.timezone=America/St_Johns",
                "-Dh2.bindAddress=" + HOST,
                "-cp",
                jar().toString(),
                "org.h2.tools.Server",
                "-tcp",
                "-tcpPort",
                Integer.toString(port),
                "-ifNotExists",
                "-baseDir",
                folder.resolve("data").toString());
    }

    @Override
    public void beforeStop(TestDatabase database) {
        database.execute("SHUTDOWN");
    }

    private static Path jar() throws IOException {
        try {
            var source = Class.forName("org.h2.Driver").getProtectionDomain().getCodeSource();
            return Path.of(source.getLocation().toURI());
        } catch (ClassNotFoundException | URISyntaxException e) {
            throw new IOException("There is no H2 to start: add com.h2database:h2 to the test class path", e);
        }
    }
}
