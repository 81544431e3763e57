// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Where the locks get their connections, and whose transactions they follow.
 *
 * <p>A caller who holds all connections of the application's pool must not wait for one more of them: the locks take theirs from a
 * pool of their own. It is no bean, so that nothing takes it for the application's data source.
 */
final class LockConnections implements AutoCloseable {

    private static final Log LOG = LogFactory.getLog(LockConnections.class);
    private static final @Nullable ClassLoader LOADER = LockConnections.class.getClassLoader();
    private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", LOADER);
    private static final int SIZE = 8;
    private static final int SIZE_ON_H2 = 64;

    private final DataSource own;
    private final DataSources.Choice choice;
    private final @Nullable AutoCloseable pool;

    private LockConnections(DataSource own, DataSources.Choice choice, @Nullable AutoCloseable pool) {
        this.own = own;
        this.choice = choice;
        this.pool = pool;
    }

    /** Connections from one data source for the transactions of another, or of the same. */
    static LockConnections of(DataSources.Choice choice, BitjangProperties.Pool settings) {
        if (choice.own() != choice.transactions()) {
            return new LockConnections(defaultTarget(choice.own()), choice, null);
        }
        DataSource source = defaultTarget(choice.own());
        if (HIKARI && settings.dedicated()) {
            @Nullable AutoCloseable pool = Hikari.copyOf(source, settings.size());
            if (pool != null) {
                return new LockConnections((DataSource) pool, choice, pool);
            }
        }
        if (settings.dedicated() && mayRunEmpty(source)) {
            LOG.warn(
                    "Bitjang has no connections of its own: the data source is a "
                            + source.getClass().getName()
                            + ", not a HikariCP pool. When all its connections are in use by"
                            + " transactions that wait for a lock, they wait for each other until a time-out. Define a small pool to the"
                            + " same database as a bean with @BitjangDataSource, or accept it with bitjang.pool.dedicated=false");
        }
        return new LockConnections(source, choice, null);
    }

    /** Where the locks get their connections. */
    DataSource own() {
        return own;
    }

    /** Whose transactions the locks follow. */
    DataSource transactions() {
        return choice.transactions();
    }

    /** The bean of that name; null if it is the only or primary one. */
    @Nullable
    String transactionsName() {
        return choice.name();
    }

    @Override
    public void close() throws Exception {
        if (pool != null) {
            pool.close();
        }
    }

    /** The threads of the locks have no routing key: they always go to the default. */
    private static DataSource defaultTarget(DataSource source) {
        @Nullable AbstractRoutingDataSource routing = unwrap(source, AbstractRoutingDataSource.class);
        if (routing == null) {
            return source;
        }
        @Nullable DataSource target = routing.getResolvedDefaultDataSource();
        if (target == null) {
            throw new LocksStartException(
                    "The routing data source " + routing.getClass().getName()
                            + " has no default target, and the locks must" + " live in one database.",
                    "Give it a default target (setDefaultTargetDataSource), or name another data source bean by"
                            + " bitjang.data-source.",
                    null);
        }
        return defaultTarget(target);
    }

    private static boolean mayRunEmpty(DataSource source) {
        return source instanceof SingleConnectionDataSource
                || !(source instanceof AbstractDriverBasedDataSource || source instanceof EmbeddedDatabase);
    }

    static <T> @Nullable T unwrap(DataSource source, Class<T> type) {
        if (type.isInstance(source)) {
            return type.cast(source);
        }
        try {
            return source.isWrapperFor(type) ? source.unwrap(type) : null;
        } catch (SQLException e) {
            LOG.debug("Not unwrapped: " + source.getClass().getName(), e);
            return null;
        }
    }

    /** Apart, because HikariCP may not be there. */
    private static final class Hikari {

        private static final String H2 = "org.h2.jdbcx.JdbcDataSource";
        private static final long IDLE = TimeUnit.MINUTES.toMillis(1);
        private static final long PATIENCE = TimeUnit.SECONDS.toMillis(5);
        private static final long LEAST_IDLE = TimeUnit.SECONDS.toMillis(10);

        private static @Nullable AutoCloseable copyOf(DataSource source, @Nullable Integer size) {
            @Nullable HikariDataSource business = unwrap(source, HikariDataSource.class);
            if (business == null) {
                return null;
            }
            if (business.isReadOnly()) {
                throw LocksFactory.readOnly(null);
            }
            HikariConfig config = new HikariConfig();
            business.copyStateTo(config);
            requireShared(config.getJdbcUrl());
            config.setPoolName("bitjang");
            config.setMaximumPoolSize(size != null ? size : isH2(config) ? SIZE_ON_H2 : SIZE);
            config.setMinimumIdle(0);
            config.setIdleTimeout(idleTimeout(config.getMaxLifetime()));
            // who asks for a lock is told soon that there is no database, and a renewal tried again in time
            config.setConnectionTimeout(Math.min(config.getConnectionTimeout(), PATIENCE));
            // the first use connects; a connection just to see whether it works would be one too many
            config.setInitializationFailTimeout(-1);
            // a session lock keeps its connection for as long as it is held
            config.setLeakDetectionThreshold(0);
            config.setRegisterMbeans(false);
            config.setAllowPoolSuspension(false);
            config.setHealthCheckRegistry(null);
            if (config.getMetricsTrackerFactory() != null) {
                config.setMetricsTrackerFactory(null);
            } else {
                config.setMetricRegistry(null);
            }
            return new HikariDataSource(config);
        }

        private static void requireShared(@Nullable String url) {
            if (url != null && url.matches("jdbc:h2:mem:(;.*)?")) {
                throw new LocksStartException(
                        "The H2 database in memory has no name, so each connection has a database of its own, and a lock would"
                                + " keep nobody out.",
                        "Give it a name: jdbc:h2:mem:test",
                        null);
            }
        }

        /** A pool has an address, the name of a driver's class, or the driver's data source itself, perhaps wrapped. */
        private static boolean isH2(HikariConfig config) {
            @Nullable String url = config.getJdbcUrl();
            @Nullable String className = config.getDataSourceClassName();
            @Nullable DataSource source = config.getDataSource();
            return url != null && url.startsWith("jdbc:h2:")
                    || className != null && className.startsWith("org.h2.")
                    || source != null && isH2(source);
        }

        private static boolean isH2(DataSource source) {
            @Nullable AbstractDriverBasedDataSource byUrl = unwrap(source, AbstractDriverBasedDataSource.class);
            if (byUrl != null) {
                return byUrl.getUrl() != null && byUrl.getUrl().startsWith("jdbc:h2:");
            }
            return ClassUtils.isPresent(H2, LOADER) && unwrap(source, ClassUtils.resolveClassName(H2, LOADER)) != null;
        }

        private static long idleTimeout(long maxLifetime) {
            return maxLifetime == 0 ? IDLE : Math.max(LEAST_IDLE, Math.min(IDLE, maxLifetime - 2000));
        }
    }
}
