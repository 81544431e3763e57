// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.contestants;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.benchmarks.places.Place;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock on JDBC with the database's time. It can't wait. */
final class ShedLock implements Contestant {

    private static final Duration LOCK = Duration.ofSeconds(30);

    private final HikariDataSource pool;
    private final LockProvider provider;

    ShedLock(Place place) throws Exception {
        this.pool = place.pool();
        try (Connection connection = place.connect();
                Statement statement = connection.createStatement()) {
            Tables.create(
                    statement,
                    "shedlock",
                    "(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL,"
                            + " locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
        }
        this.provider = new JdbcTemplateLockProvider(Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
    }

    @Override
    public Section section(String name) {
        return new Section() {
            private Optional<SimpleLock> lock = Optional.empty();

            @Override
            public void enter() throws Exception {
                Polling.until(() -> {
                    lock = provider.lock(new LockConfiguration(Instant.now(), name, LOCK, Duration.ZERO));
                    return lock.isPresent();
                });
            }

            @Override
            public void leave() {
                lock.ifPresent(SimpleLock::unlock);
            }
        };
    }

    @Override
    public void close() {
        pool.close();
    }
}
