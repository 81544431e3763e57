// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.testkit.TestDatabase;
import java.util.UUID;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

/** Applications to test with. */
final class Apps {

    private Apps() {}

    /** One that has what the starter brings, and nothing configured. */
    static ApplicationContextRunner plain() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        BitjangAutoConfiguration.class,
                        BitjangLockingAutoConfiguration.class,
                        BitjangMetricsAutoConfiguration.class,
                        BitjangHealthAutoConfiguration.class,
                        BitjangEndpointAutoConfiguration.class,
                        BitjangJpaAutoConfiguration.class));
    }

    /** The same, on a database of the testkit. */
    static ApplicationContextRunner on(TestDatabase database) {
        return plain().withPropertyValues(properties(database));
    }

    static String[] properties(TestDatabase database) {
        return new String[] {
            "spring.datasource.url=" + database.jdbcUrl(),
            "spring.datasource.username=" + database.user(),
            "spring.datasource.password=" + database.password()
        };
    }

    /** The address of an H2 database in memory that nobody else uses. */
    static String h2() {
        return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    }
}
