// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.spring.Locked;
import io.bitjang.spring.web.RequiresEditLock;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;

/** What is wrong is said when the application starts, with what to do about it. */
@ExtendWith(OutputCaptureExtension.class)
class StartFailuresTest {

    static List<String> databases() {
        return TestDatabases.selected();
    }

    static List<String> servers() {
        return TestDatabases.selected().stream()
                .filter(name -> !name.equals("h2"))
                .toList();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("servers")
    void tables_are_not_created_on_a_server_unless_asked_for(String name) {
        TestDatabase database = TestDatabases.byName(name);
        Apps.on(database).withPropertyValues("bitjang.table-prefix=nobody_").run(context -> {
            LocksFailure failure = failure(context);
            assertThat(failure.description()).contains("nobody_schema_version", "io/bitjang/schema/" + name);
            assertThat(failure.action()).contains("bitjang.schema=create");
        });
    }

    @Test
    void a_database_that_is_not_known_is_named() {
        Apps.plain()
                .withPropertyValues("spring.datasource.url=jdbc:hsqldb:mem:unknown")
                .run(context -> {
                    assertThat(failure(context).description()).contains("HSQL", "PostgreSQL, MySQL, MariaDB and H2");
                    assertThat(failure(context).action()).contains("bitjang.enabled=false");
                });
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("servers")
    void a_database_that_is_down_is_named(String name) throws IOException {
        TestDatabase nowhere = TestDatabases.byName(name).through(closedPort());
        Apps.on(nowhere)
                .withPropertyValues("spring.datasource.hikari.connection-timeout=500")
                .run(context -> {
                    assertThat(failure(context).description()).contains("can't be reached");
                    assertThat(failure(context).action()).contains("spring.datasource");
                });
    }

    @Test
    void the_message_is_printed_instead_of_a_stack_trace(CapturedOutput output) {
        try {
            new SpringApplicationBuilder(Application.class)
                    .properties(
                            "spring.liquibase.enabled=false",
                            "spring.flyway.enabled=false",
                            "bitjang.schema=validate",
                            "spring.main.web-application-type=none")
                    .run()
                    .close();
        } catch (RuntimeException expected) {
            assertThat(expected).hasStackTraceContaining("LocksStartException");
        }
        assertThat(output.getOut())
                .contains("APPLICATION FAILED TO START", "io/bitjang/schema/h2/V1__bitjang.sql")
                .doesNotContain("\tat io.bitjang");
    }

    static class Jobs {

        @Locked("job:#{#nobody}")
        void run(int number) {}
    }

    @Controller
    static class Pages {

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{number}")
        String save() {
            return "saved";
        }
    }

    @Test
    void mistake_with_a_lock_is_printed_instead_of_a_stack_trace(CapturedOutput output) {
        assertMistake(Jobs.class, output, "names 'nobody', which is no parameter of the method");
        assertMistake(Pages.class, output, "there is no such variable in the path");
    }

    private static void assertMistake(Class<?> bean, CapturedOutput output, String what) {
        int before = output.getOut().length();
        assertThatThrownBy(() -> new SpringApplicationBuilder(Application.class, bean)
                        .properties(
                                "spring.liquibase.enabled=false",
                                "spring.flyway.enabled=false",
                                "server.port=0",
                                "bitjang.edit-locks.types=order")
                        .run()
                        .close())
                .hasStackTraceContaining(what);
        assertThat(output.getOut().substring(before))
                .contains("APPLICATION FAILED TO START", "Description:", what, "Action:")
                .doesNotContain("\tat io.bitjang");
    }

    @ParameterizedTest
    @ValueSource(strings = {"create", "validate", "none"})
    void a_server_that_is_refused_is_not_asked_for_tables(String schema) {
        Apps.plain()
                .withPropertyValues(
                        "spring.datasource.url=" + Apps.h2(),
                        "spring.datasource.hikari.transaction-isolation=TRANSACTION_READ_UNCOMMITTED",
                        "bitjang.schema=" + schema)
                .run(context -> {
                    assertThat(failure(context).description()).contains("READ UNCOMMITTED");
                    assertThat(failure(context).action())
                            .contains("isolation level", "bitjang.data-source")
                            .doesNotContain("bitjang.schema");
                });
    }

    @Test
    void who_creates_the_tables_in_vain_is_not_told_to_create_them() {
        Apps.plain()
                .withPropertyValues(
                        "spring.datasource.url=" + Apps.h2(), "bitjang.schema=create", "bitjang.schema-name=missing")
                .run(context -> {
                    assertThat(failure(context).description()).contains("Schema \"MISSING\" not found");
                    assertThat(failure(context).action())
                            .contains("what is said above", "Flyway or Liquibase")
                            .doesNotContain("bitjang.schema=create");
                });
    }

    @Test
    void tables_that_are_missing_are_not_blamed_on_the_server() {
        Apps.plain()
                .withPropertyValues("spring.datasource.url=" + Apps.h2(), "bitjang.schema=validate")
                .run(context -> {
                    assertThat(failure(context).description()).contains("bitjang_schema_version is not there");
                    assertThat(failure(context).action())
                            .contains("Flyway or Liquibase", "bitjang.schema=create")
                            .doesNotContain("isolation level");
                });
    }

    @ParameterizedTest
    @MethodSource("databases")
    void a_read_only_pool_is_refused(String name) {
        Apps.on(TestDatabases.byName(name))
                .withPropertyValues("spring.datasource.hikari.read-only=true", "bitjang.schema=validate")
                .run(context -> assertThat(failure(context).description()).contains("read-only"));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void a_database_that_takes_no_writes_is_refused(String name, @TempDir Path folder) {
        TestDatabase database = TestDatabases.byName(name);
        String url = name.equals("h2") ? "jdbc:h2:" + folder.resolve("locks") : database.jdbcUrl();
        Apps.on(database)
                .withPropertyValues("spring.datasource.url=" + url, "bitjang.schema=create")
                .run(context -> assertThat(context).hasNotFailed());
        String[] readOnly = switch (name) {
            case "h2" -> new String[] {"spring.datasource.url=" + url + ";ACCESS_MODE_DATA=r"};
            case "postgresql" ->
                new String[] {"spring.datasource.hikari.connection-init-sql=SET default_transaction_read_only = on"};
            default -> new String[] {"spring.datasource.hikari.connection-init-sql=SET SESSION TRANSACTION READ ONLY"};
        };
        Apps.on(database)
                .withPropertyValues("bitjang.schema=validate")
                .withPropertyValues(readOnly)
                .run(context -> {
                    assertThat(failure(context).description())
                            .contains(name.equals("h2") ? "can't be written" : "the session is read-only");
                    assertThat(failure(context).action())
                            .contains("primary", "read-only")
                            .contains(name.equals("h2") ? "SELECT, INSERT, UPDATE and DELETE" : "first statements");
                });
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static LocksFailure failure(AssertableApplicationContext context) {
        assertThat(context).hasFailed();
        return LocksFailure.of(context.getStartupFailure());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
