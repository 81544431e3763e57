// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.testkit.TcpProxy;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A database that is away is never taken for a lock that someone has. */
class EditLockDatabaseDownTest {

    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    static class WithVersions extends Application {

        /** From the same database. */
        @Bean
        EditLockVersions versions(DataSource source) {
            return name -> JdbcClient.create(source)
                    .sql("SELECT 'one'")
                    .query(String.class)
                    .optional();
        }
    }

    @RestController
    static class Orders {

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        String save(@PathVariable String no) {
            return no;
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Application.class, WithVersions.class})
    void everything_is_unavailable_while_the_database_is_away_and_goes_on_afterwards(Class<?> application) {
        TestDatabase database = TestDatabases.h2Server();
        try (TcpProxy proxy = TcpProxy.to(database)) {
            DataSource source = database.through(proxy.port()).dataSource();
            try (EditServer server =
                    new EditServer(source, Locks.builder(source), EditLockSettings.ofTypes("order"), application)) {
                Person kim = server.person("kim");
                String lock = "/order/1";
                Person.Answer taken = kim.take(lock, "tab-0001").is(201);
                proxy.refuse();
                proxy.disconnect();
                // H2's driver takes more than a second each time to give up
                for (Person.Answer answer : new Person.Answer[] {
                    kim.take(lock, "tab-0001"),
                    kim.renew(lock, taken.token()),
                    kim.send("POST", "//orders/1", "", "Lock-Token", taken.token())
                }) {
                    assertThat(answer.isProblem(503, "unavailable").header("retry-after"))
                            .isEqualTo("5");
                }
                proxy.resume();
                kim.renew(lock, taken.token()).is(200);
                kim.send("POST", "//orders/1", "", "Lock-Token", taken.token()).is(200);
            }
        }
    }
}
