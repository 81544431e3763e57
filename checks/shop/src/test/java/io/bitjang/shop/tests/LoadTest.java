// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.shop.load.Load;
import io.bitjang.shop.start.Options;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many editors: nothing lost, no version skipped, no lock left behind. */
class LoadTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.TestDatabases#selected")
    void a_short_load(String database) {
        assertThat(load(database, 40, 10, 5)).isTrue();
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("io.bitjang.testkit.TestDatabases#selected")
    void two_hundred_editors_on_fifty_orders_for_a_minute(String database) {
        assertThat(load(database, 200, 50, 60)).isTrue();
    }

    private boolean load(String database, int editors, int orders, int seconds) {
        return Load.run(Options.of(
                "load",
                "--database=" + database,
                "--shop.run-file=" + folder.resolve("load.properties"),
                "--editors=" + editors,
                "--orders=" + orders,
                "--seconds=" + seconds));
    }
}
