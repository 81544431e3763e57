// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whose lock it is can be read in the table: which application, which process, which host. */
class OwnersTest {

    @Test
    void host_is_named_by_its_own_name_also_where_the_environment_does_not_say() throws Exception {
        Path kernel = Path.of("/proc/sys/kernel/hostname");
        if (Files.exists(kernel)) {
            assertThat(Owners.host(Map.of())).isEqualTo(Files.readString(kernel).strip());
        }
        assertThat(Owners.host(Map.of())).isNotBlank();
        assertThat(Owners.host(Map.of("HOSTNAME", " ", "COMPUTERNAME", "DESK"))).isEqualTo("DESK");
        assertThat(Owners.host(Map.of("HOSTNAME", "pod-7", "COMPUTERNAME", "DESK")))
                .isEqualTo("pod-7");
    }

    @Test
    void owner_has_the_application_the_process_and_the_host() {
        long pid = ProcessHandle.current().pid();
        assertThat(Owners.of(null, "shop")).isEqualTo("shop:" + pid + "@" + Owners.host(System.getenv()));
        assertThat(Owners.of(" ", null)).startsWith(pid + "@");
        assertThat(Owners.of("me", "shop")).isEqualTo("me");
        assertThat(Owners.of(null, "s".repeat(300))).hasSize(255).contains(":" + pid + "@");
    }
}
