// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RunFoldersTest {

    @TempDir
    Path root;

    @Test
    void folders_of_a_living_jvm_stay_and_those_of_a_dead_one_are_swept() throws IOException {
        try (ChildJvm other = ChildJvm.of(HasFolder.class).args(root.toString()).start()) {
            Path folder = Path.of(other.readLine(Duration.ofSeconds(20)));
            new RunFolders(root).close();
            assertThat(folder).isNotEmptyDirectory();

            other.kill9();

            assertThat(folder).isNotEmptyDirectory();
            new RunFolders(root).close();
            assertThat(root).isEmptyDirectory();
        }
    }

    @Test
    void folders_of_this_jvm_stay() throws IOException {
        RunFolders mine = new RunFolders(root);
        Path folder = mine.create("postgresql");
        new RunFolders(root).close();
        assertThat(folder).exists();
        mine.close();
    }

    static final class HasFolder {
        public static void main(String[] args) throws IOException {
            Path folder = new RunFolders(Path.of(args[0])).create("postgresql");
            Files.writeString(folder.resolve("server.log"), "ready");
            System.out.println(folder);
            System.in.read();
        }
    }
}
