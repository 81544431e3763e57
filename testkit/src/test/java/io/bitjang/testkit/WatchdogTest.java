// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(400)
class WatchdogTest {

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void server_and_its_data_are_gone_after_the_jvm_was_killed(String name) throws Exception {
        try (ChildJvm child = child(name)) {
            int port = Integer.parseInt(child.readLine(Duration.ofSeconds(180)));
            Path folder = Path.of(child.readLine(Duration.ofSeconds(30)));
            assertThat(folder).isNotEmptyDirectory();
            assertThat(listens(port)).isTrue();

            child.kill9();

            assertThat(Eventually.holds(Duration.ofSeconds(60), () -> !listens(port) && !Files.exists(folder)))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.Sql#servers")
    void server_and_its_data_are_gone_when_the_jvm_has_exited(String name) throws Exception {
        try (ChildJvm child = child(name)) {
            int port = Integer.parseInt(child.readLine(Duration.ofSeconds(180)));
            Path folder = Path.of(child.readLine(Duration.ofSeconds(30)));

            child.send("exit");
            assertThat(child.waitFor(Duration.ofSeconds(60))).isZero();

            assertThat(listens(port)).isFalse();
            assertThat(folder).doesNotExist();
        }
    }

    private static ChildJvm child(String name) {
        ChildJvm.Builder builder = ChildJvm.of(StartsServer.class).args(name);
        System.getProperties().stringPropertyNames().stream()
                .filter(key -> key.startsWith("bitjang.testkit.") && !key.equals("bitjang.testkit.shared"))
                .forEach(key -> builder.property(key, System.getProperty(key)));
        return builder.start();
    }

    static boolean listens(int port) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    static final class StartsServer {
        public static void main(String[] args) throws IOException {
            TestDatabase database = TestDatabases.byName(args[0]);
            System.out.println(database.port());
            System.out.println(Running.folders().get(0));
            System.in.read();
        }
    }
}
