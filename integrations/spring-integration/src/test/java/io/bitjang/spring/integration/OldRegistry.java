// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.integration;

import io.bitjang.testkit.TestDatabase;
import java.time.Duration;
import java.util.Locale;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's own registry on JDBC, with a table of its own; closing removes the table. */
final class OldRegistry implements AutoCloseable {

    private final String prefix =
            "T" + UUID.randomUUID().toString().substring(0, 8).toUpperCase(Locale.ROOT) + "_";
    private final TestDatabase database;
    private final DataSource source;

    OldRegistry(TestDatabase database, DataSource source) {
        this.database = database;
        this.source = source;
        database.execute("CREATE TABLE " + prefix + "LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,"
                + " CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP(3) NOT NULL, EXPIRED_AFTER TIMESTAMP(3) NOT NULL,"
                + " PRIMARY KEY (LOCK_KEY, REGION))");
    }

    /** One more node: each has another client id. */
    JdbcLockRegistry node() {
        return node(Duration.ofMinutes(5));
    }

    JdbcLockRegistry node(Duration ttl) {
        DefaultLockRepository repository = new DefaultLockRepository(source);
        repository.setPrefix(prefix);
        repository.setTransactionManager(new JdbcTransactionManager(source));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        JdbcLockRegistry jdbc = new JdbcLockRegistry(repository, ttl);
        jdbc.setIdleBetweenTries(Duration.ofMillis(5));
        return jdbc;
    }

    /** An operator takes all its locks away. */
    void takeAllAway() {
        database.execute("DELETE FROM " + prefix + "LOCK");
    }

    @Override
    public void close() {
        database.execute("DROP TABLE " + prefix + "LOCK");
    }
}
