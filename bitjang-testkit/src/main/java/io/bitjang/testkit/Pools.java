// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import com.zaxxer.hikari.HikariDataSource;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** The pools that the testkit made and nobody has closed yet, so that the leak check can tell a pool's connections from lost ones. */
final class Pools {

    private static final Set<HikariDataSource> MADE =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private Pools() {}

    static HikariDataSource remember(HikariDataSource pool) {
        MADE.add(pool);
        return pool;
    }

    static List<HikariDataSource> open() {
        synchronized (MADE) {
            MADE.removeIf(HikariDataSource::isClosed);
            return List.copyOf(MADE);
        }
    }
}
