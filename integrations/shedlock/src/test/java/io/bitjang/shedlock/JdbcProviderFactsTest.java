// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.UUID;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** What docs/from-shedlock.md says about ShedLock's own provider on JDBC: when one of these fails, the page is to be changed. */
class JdbcProviderFactsTest extends OnShedLock {

    private final String table = "shedlock_" + UUID.randomUUID().toString().substring(0, 8);
    private LockProvider late;
    private LockProvider sameHost;

    @BeforeEach
    void nodes() {
        database.execute("CREATE TABLE " + table + " (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,"
                + " locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
        late = provider();
        sameHost = provider();
    }

    @AfterEach
    void dropTable() {
        database.execute("DROP TABLE " + table);
    }

    private LockProvider provider() {
        return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withTableName(table)
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
    }

    @Test
    void one_who_has_lost_its_lock_unlocks_the_next_holders_on_the_same_host() {
        SimpleLock lost = locked(late, Duration.ofMillis(30));
        until(() -> lock(sameHost, LONG).isPresent());

        lost.unlock();

        assertThat(lock(sameHost, LONG)).as("a third one has it, too").isPresent();
    }

    @Test
    void one_who_has_lost_its_lock_extends_the_next_holders_on_the_same_host() {
        SimpleLock lost = locked(late, Duration.ofMillis(30));
        until(() -> lock(sameHost, LONG).isPresent());

        assertThat(lost.extend(LONG, Duration.ZERO)).isPresent();
    }
}
