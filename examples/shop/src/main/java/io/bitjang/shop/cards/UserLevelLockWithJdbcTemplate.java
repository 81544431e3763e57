// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import com.zaxxer.hikari.HikariDataSource;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;

/**
 * The first version that people write, kept as it is written: the template gets a connection from the pool for {@code GET_LOCK} and
 * gives it back at once, so the lock belongs to a connection that anybody may get next, and {@code RELEASE_LOCK} goes to another one.
 * On PostgreSQL the advisory locks do the same, on H2 {@link H2Functions}.
 */
final class UserLevelLockWithJdbcTemplate implements AutoCloseable {

    private static final int CONNECTIONS = 5;

    private final HikariDataSource pool;
    private final NamedParameterJdbcTemplate jdbcTemplate;
    private final String getLock;
    private final String releaseLock;

    UserLevelLockWithJdbcTemplate(HikariDataSource business) {
        pool = new HikariDataSource();
        pool.setJdbcUrl(business.getJdbcUrl());
        pool.setUsername(business.getUsername());
        pool.setPassword(business.getPassword());
        pool.setMaximumPoolSize(CONNECTIONS);
        jdbcTemplate = new NamedParameterJdbcTemplate(pool);
        boolean postgres = business.getJdbcUrl().startsWith("jdbc:postgresql:");
        getLock = postgres
                ? "SELECT CASE WHEN pg_advisory_lock(hashtext(:name)) IS NULL AND :seconds > 0 THEN 1 ELSE 1 END"
                : "SELECT GET_LOCK(:name, :seconds)";
        releaseLock = postgres
                ? "SELECT CASE WHEN pg_advisory_unlock(hashtext(:name)) THEN 1 ELSE 0 END"
                : "SELECT RELEASE_LOCK(:name)";
        if (postgres) {
            pool.setConnectionInitSql("SET lock_timeout = '3s'");
        }
    }

    <T> T executeWithLock(String name, int seconds, Supplier<T> body) {
        try {
            check(jdbcTemplate.queryForObject(getLock, Map.of("name", name, "seconds", seconds), Integer.class));
            return body.get();
        } finally {
            check(jdbcTemplate.queryForObject(releaseLock, Map.of("name", name), Integer.class));
        }
    }

    private static void check(@Nullable Integer result) {
        if (result == null || result != 1) {
            throw new IllegalStateException("The lock failed: the database answered " + result);
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
