// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts;

import io.bitjang.testkit.TestDatabases;
import java.util.List;
import java.util.stream.Stream;

/** The databases of a test with several processes, for {@code @MethodSource}. */
public final class Servers {

    private Servers() {}

    /** For what is the same whatever statements are sent: one that polls and one that blocks and notifies, if they were chosen. */
    public static Stream<String> ofTheEngine() {
        List<String> two =
                selected().filter(name -> name.matches("h2-server|postgresql")).toList();
        return two.isEmpty() ? selected() : two.stream();
    }

    /** Those that were chosen for this run, all reached over the network: H2 as a server. */
    public static Stream<String> selected() {
        return TestDatabases.selected().stream().map(name -> name.equals("h2") ? "h2-server" : name);
    }
}
