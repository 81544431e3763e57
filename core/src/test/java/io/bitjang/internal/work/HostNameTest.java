// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.OnH2;
import io.bitjang.Wait;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whose lock it is can be read in the table. */
class HostNameTest extends OnH2 {

    @Test
    void host_has_its_own_name_also_where_the_environment_does_not_say() throws Exception {
        Path kernel = Path.of("/proc/sys/kernel/hostname");
        if (Files.exists(kernel)) {
            assertThat(HostName.of(Map.of())).isEqualTo(Files.readString(kernel).strip());
        }
        assertThat(HostName.of(Map.of())).isNotBlank();
        assertThat(HostName.of(Map.of("HOSTNAME", " ", "COMPUTERNAME", "DESK"))).isEqualTo("DESK");
        assertThat(HostName.of(Map.of("HOSTNAME", "pod-7", "COMPUTERNAME", "DESK")))
                .isEqualTo("pod-7");
    }

    @Test
    void owner_is_the_process_and_its_host_where_nobody_chose_one() throws Exception {
        LockName name = LockName.of("job");
        Locks mine = closing(Locks.create(seen.dataSource()));

        mine.lease(name).acquire(Wait.none());

        assertThat(column("owner", name)).isEqualTo(ProcessHandle.current().pid() + "@" + HostName.of(System.getenv()));
    }
}
