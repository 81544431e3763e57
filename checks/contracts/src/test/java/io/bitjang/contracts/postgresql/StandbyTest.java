// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.UnfitServer;
import io.bitjang.testkit.UnprovenSource;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The advisory locks of a standby are not those of the primary. */
@OnDatabase("postgresql")
class StandbyTest {

    @TempDir
    Path folder;

    @Test
    void a_standby_is_refused_at_start() throws Exception {
        try (UnfitServer standby = UnfitServer.standby(folder)) {
            assertThatThrownBy(() -> Locks.builder(standby.dataSource())
                            .schema(Locks.Schema.NONE)
                            .build())
                    .isInstanceOf(LockingFailException.class)
                    .hasMessageContaining("standby")
                    .hasMessageContaining("primary");
        }
    }

    @Test
    void session_locks_are_refused_on_a_standby() throws Exception {
        try (UnfitServer standby = UnfitServer.standby(folder);
                Locks locks = Locks.builder(UnprovenSource.of(standby.dataSource()))
                        .schema(Locks.Schema.NONE)
                        .build()) {
            assertThatThrownBy(() -> locks.session("a").tryAcquire())
                    .isInstanceOf(LockingFailException.class)
                    .hasMessageContaining("standby")
                    .hasMessageContaining("leads straight to the primary");
        }
    }
}
