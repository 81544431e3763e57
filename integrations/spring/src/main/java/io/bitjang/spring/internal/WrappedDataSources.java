// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ReflectionUtils;

/** Data sources inside data sources: Spring's own proxies, and others (to log or trace statements) that can be unwrapped. */
final class WrappedDataSources {

    private static final int DEEPEST = 20;

    private static final @Nullable Method TARGET =
            ReflectionUtils.findMethod(AbstractRoutingDataSource.class, "determineTargetDataSource");

    static {
        if (TARGET != null) {
            ReflectionUtils.makeAccessible(TARGET);
        }
    }

    private WrappedDataSources() {}

    /** Whether both are the same, or wrap the same. */
    static boolean same(DataSource one, DataSource other) {
        Set<DataSource> layers = layers(one);
        Set<DataSource> others = layers(other);
        for (DataSource layer : layers) {
            for (DataSource otherLayer : others) {
                if (layer.equals(otherLayer) || isAround(layer, otherLayer) || isAround(otherLayer, layer)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What is inside Spring's own proxies, one of which would answer with the connection of the current transaction. */
    static DataSource withoutSpringsProxies(DataSource dataSource) {
        DataSource found = dataSource;
        while (found instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
            found = proxy.getTargetDataSource();
        }
        return found;
    }

    /** Whether it leads to different databases at different times. */
    static boolean isRouting(DataSource dataSource) {
        return routing(dataSource) != null;
    }

    private static @Nullable AbstractRoutingDataSource routing(DataSource dataSource) {
        for (DataSource layer : layers(dataSource)) {
            if (layer instanceof AbstractRoutingDataSource routing) {
                return routing;
            }
        }
        return null;
    }

    /**
     * Where a routing data source leads at the moment; null if that can't be told.
     *
     * @throws RuntimeException if it leads nowhere
     */
    static @Nullable DataSource leadsTo(DataSource dataSource) {
        @Nullable AbstractRoutingDataSource routing = routing(dataSource);
        return routing == null || TARGET == null || changesConnections(routing)
                ? null
                : (DataSource) ReflectionUtils.invokeMethod(TARGET, routing);
    }

    /** Whether it gives connections that are not as its target gives them, but in the schema of a tenant for example. */
    private static boolean changesConnections(AbstractRoutingDataSource routing) {
        @Nullable Method getter = ReflectionUtils.findMethod(routing.getClass(), "getConnection");
        return getter == null || !AbstractRoutingDataSource.class.equals(getter.getDeclaringClass());
    }

    private static Set<DataSource> layers(DataSource dataSource) {
        Set<DataSource> layers = new LinkedHashSet<>();
        @Nullable DataSource layer = dataSource;
        while (layer != null && layers.size() < DEEPEST && layers.add(layer)) {
            layer = inside(layer);
        }
        return layers;
    }

    private static @Nullable DataSource inside(DataSource layer) {
        return layer instanceof DelegatingDataSource proxy
                ? proxy.getTargetDataSource()
                : unwrapped(layer, DataSource.class);
    }

    /** Many a wrapper tells what is inside only to those who know its class. */
    private static boolean isAround(DataSource outer, DataSource inner) {
        return inner.equals(unwrapped(outer, inner.getClass()));
    }

    private static <T> @Nullable T unwrapped(DataSource dataSource, Class<T> type) {
        if (dataSource instanceof AbstractRoutingDataSource) {
            return null; // it would answer for the routing key of the moment
        }
        try {
            return dataSource.isWrapperFor(type) ? dataSource.unwrap(type) : null;
        } catch (SQLException | RuntimeException e) {
            return null; // not every wrapper has thought of it
        }
    }
}
