// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/**
 * Data sources that lead each caller to a database of its own, by something that is bound to the thread: a tenant, mostly. The threads
 * that renew, wait and release have nothing of that, so a lock would be taken in one database and renewed in another. The classes are
 * known by name, because nothing here may depend on them.
 */
public final class RoutingSources {

    private static final List<String> KNOWN = List.of(
            "org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource",
            "com.baomidou.dynamic.datasource.ds.AbstractRoutingDataSource");

    private RoutingSources() {}

    /** Refuses a data source that leads each caller to a database of its own, or wraps one and tells so. */
    public static void refuse(DataSource source) {
        for (String known : KNOWN) {
            if (isOrWraps(source, known)) {
                throw new IllegalArgumentException(
                        "The data source " + source.getClass().getName()
                                + " leads each thread to a database of its own (it is or wraps a " + known
                                + "). Renewals, waits and releases run on threads of the library, and would go elsewhere. Make one"
                                + " Locks for each target (tenant), from the target's own data source.");
            }
        }
    }

    private static boolean isOrWraps(DataSource source, String name) {
        try {
            Class<?> routing = Class.forName(name, false, source.getClass().getClassLoader());
            return routing.isInstance(source) || source.isWrapperFor(routing);
        } catch (ClassNotFoundException | LinkageError e) {
            return false; // then there can't be one
        } catch (SQLException | RuntimeException e) {
            return false; // a wrapper that does not tell what it wraps
        }
    }
}
