// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit;

import com.zaxxer.hikari.HikariDataSource;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Collectors;

/** The pools that the testkit made and nobody has closed yet, so that the leak check can tell a pool's connections from lost ones. */
final class Pools {

    /** With the database they lead to, whichever way. */
    private static final Map<HikariDataSource, TestDatabase> MADE = Collections.synchronizedMap(new WeakHashMap<>());

    private Pools() {}

    static HikariDataSource remember(TestDatabase database, HikariDataSource pool) {
        MADE.put(pool, database);
        return pool;
    }

    static Set<HikariDataSource> open(TestDatabase database) {
        synchronized (MADE) {
            return MADE.entrySet().stream()
                    .filter(entry ->
                            entry.getValue().equals(database) && !entry.getKey().isClosed())
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toSet());
        }
    }
}
