// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** Flyway and Liquibase make the tables, before the locks look for them. */
class MigrationsTest {

    private static final String FLYWAY =
            "spring.flyway.locations=classpath:db/migration,classpath:io/bitjang/flyway/{vendor}";

    /** Boot has a Flyway module for each of these on the class path of this test. */
    static List<String> databases() {
        return TestDatabases.selected().stream()
                .filter(name -> name.equals("h2") || name.equals("postgresql"))
                .toList();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("databases")
    void flyway_makes_the_tables_next_to_the_migrations_of_the_application(String name) {
        TestDatabase database = TestDatabases.byName(name);
        String url = name.equals("h2")
                ? Apps.h2()
                : database.jdbcUrl() + (database.jdbcUrl().contains("?") ? "&" : "?") + "currentSchema=by_flyway";
        ApplicationContextRunner application = Apps.on(database)
                .withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.url=" + url,
                        name.equals("h2") ? "test=h2" : "spring.flyway.schemas=by_flyway",
                        "bitjang.schema=validate",
                        FLYWAY);
        // the second time nothing is left to do
        for (int time = 1; time <= 2; time++) {
            application.run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(Locks.class).lease("job").tryRun(() -> {}))
                        .isTrue();
                assertThat(context.getBean(JdbcTemplate.class)
                                .queryForObject("SELECT count(*) FROM orders", Long.class))
                        .isZero();
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2", "mariadb", "mysql", "postgresql"})
    void the_script_for_flyway_is_that_of_the_core(String vendor) throws IOException {
        assertThat(Files.readString(Path.of("src/main/resources/io/bitjang/flyway/" + vendor + "/R__bitjang.sql")))
                .isEqualTo(Files.readString(
                        Path.of("../../core/src/main/resources/io/bitjang/schema/" + vendor + "/V1__bitjang.sql")));
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("databases")
    void liquibase_makes_the_tables(String name) {
        TestDatabase database = TestDatabases.byName(name);
        ApplicationContextRunner application = Apps.on(database)
                .withConfiguration(AutoConfigurations.of(LiquibaseAutoConfiguration.class))
                .withPropertyValues(
                        name.equals("h2") ? "spring.datasource.url=" + Apps.h2() : "test=server",
                        "spring.liquibase.change-log=classpath:db/changelog/test.xml",
                        "bitjang.schema=validate");
        for (int time = 1; time <= 2; time++) {
            application.run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(Locks.class).lease("job").tryRun(() -> {}))
                        .isTrue();
            });
        }
    }

    @Test
    void without_a_migration_the_script_is_named() {
        Apps.plain().withPropertyValues("bitjang.schema=validate").run(context -> {
            LocksFailure failure = LocksFailure.of(context.getStartupFailure());
            assertThat(failure.description()).contains("io/bitjang/schema/h2/V1__bitjang.sql");
            assertThat(failure.action()).contains("Flyway", "Liquibase", "bitjang.schema=create");
        });
    }
}
