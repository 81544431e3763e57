// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.p6spy.engine.spy.P6DataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** A data source that leads each thread to the database of its tenant has no place for locks that other threads renew. */
class TenantsTest {

    private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

    private static DataSource routing(Map<String, DataSource> tenants) {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return TENANT.get();
            }
        };
        routing.setTargetDataSources(new LinkedHashMap<>(tenants));
        routing.setDefaultTargetDataSource(tenants.values().iterator().next());
        routing.afterPropertiesSet();
        return routing;
    }

    private static DataSource tenant() {
        JdbcDataSource tenant = new JdbcDataSource();
        tenant.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return tenant;
    }

    @Test
    void routing_data_source_is_refused_with_the_way_to_do_it() {
        DataSource routing = routing(Map.of("kim", tenant()));

        List.of(
                        routing,
                        new LazyConnectionDataSourceProxy(routing),
                        new ProxyDataSource(routing),
                        new P6DataSource(routing),
                        new ProxyDataSource(new LazyConnectionDataSourceProxy(routing)))
                .forEach(source -> assertThatThrownBy(() -> Locks.create(source))
                        .as(source.getClass().getName())
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("one Locks for each target (tenant)"));
    }

    @Test
    void pool_over_a_routing_data_source_is_refused() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(routing(Map.of("kim", tenant())));
        try (HikariDataSource pool = new HikariDataSource(config)) {
            assertThatThrownBy(() -> Locks.create(pool)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void routing_data_source_for_session_locks_is_refused() {
        DataSource routing = routing(Map.of("kim", tenant()));

        assertThatThrownBy(() -> Locks.builder(TestDatabases.h2().dataSource())
                        .sessionDataSource(routing)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("AbstractRoutingDataSource");
    }
}
