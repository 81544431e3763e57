// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.UnfitServer;
import io.bitjang.testkit.UnprovenSource;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Row locks and GET_LOCK of a member of a Galera cluster hold on that member only. */
@OnDatabase("mariadb")
class GaleraTest {

    @TempDir
    Path folder;

    @Test
    void a_member_of_a_galera_cluster_is_refused_at_start() throws Exception {
        try (UnfitServer member = UnfitServer.galera(folder)) {
            assertThatThrownBy(() -> Locks.create(member.dataSource()))
                    .isInstanceOf(LockingFailException.class)
                    .hasMessageContaining("Galera")
                    .hasMessageContaining("Use a server without Galera");
        }
    }

    @Test
    void session_locks_are_refused_on_a_member_of_a_galera_cluster() throws Exception {
        try (UnfitServer member = UnfitServer.galera(folder);
                Locks locks = Locks.builder(UnprovenSource.of(member.dataSource()))
                        .schema(Locks.Schema.NONE)
                        .build()) {
            assertThatThrownBy(() -> locks.session("a").tryAcquire())
                    .isInstanceOf(LockingFailException.class)
                    .hasMessageContaining("Galera");
        }
    }
}
