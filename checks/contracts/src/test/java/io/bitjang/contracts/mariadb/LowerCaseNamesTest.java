// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.UnfitServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With lower_case_table_names the same tables have many names: session locks go by the tables. */
@OnDatabase("mariadb")
class LowerCaseNamesTest {

    @TempDir
    Path folder;

    @Test
    void session_locks_are_shared_however_the_database_is_spelled() throws Exception {
        try (UnfitServer server = UnfitServer.lowerCaseNames(folder);
                Locks small = Locks.create(server.dataSource());
                Locks capital = Locks.create(server.dataSource(name -> name.toUpperCase(Locale.ROOT)));
                Locks named = Locks.builder(server.dataSource())
                        .schemaName("Bitjang")
                        .tablePrefix("BITJANG_")
                        .build()) {
            List<Locks> all = List.of(small, capital, named);
            for (Locks holder : all) {
                try (SessionLock.Hold hold = holder.session("x").tryAcquire().orElseThrow()) {
                    assertThat(hold.isHeld()).isTrue();
                    assertThat(all)
                            .allMatch(node -> node.session("x").tryAcquire().isEmpty());
                }
            }
        }
    }
}
