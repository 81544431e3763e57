// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Scene;
import io.bitjang.shop.orders.ShippingInfo;
import io.bitjang.shop.start.Options;
import io.bitjang.shop.start.Start;
import io.bitjang.testkit.TcpProxy;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop on a database that goes away. */
class DatabaseAwayTest {
    @TempDir
    Path folder;

    static List<String> servers() {
        return DatabasesTest.servers();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("servers")
    void a_database_that_goes_away_in_mid_edit_is_a_page_with_what_was_typed_and_the_save_works_when_it_is_back(
            String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        try (TcpProxy proxy = TcpProxy.to(database);
                ConfigurableApplicationContext shop = Start.shop(Options.of(
                        "--url=" + database.through(proxy.port()).jdbcUrl(),
                        "--user=" + database.user(),
                        "--password=" + database.password(),
                        "--port=0",
                        // so long the pages wait, and so long may a first connection take on a busy machine
                        "--spring.datasource.hikari.connection-timeout=5000",
                        "--shop.run-file=" + folder.resolve("running.properties")))) {
            // not one that other tests know, or an earlier run of this one
            String order = String.valueOf(ThreadLocalRandom.current().nextInt(100_000, 1_000_000));
            shop.getBean(OrderRepository.class)
                    .save(new Order(new OrderNo(order), Scene.NONE, "customer", new ShippingInfo("Kim", "Seoul", "")));
            Visitor customer = new Visitor(Start.address(shop), "customer");
            var form = customer.post("/orders/" + order + "/edit", Map.of());
            Map<String, String> typed = Map.of(
                    "lid", Visitor.field(form, "lid"),
                    "version", Visitor.field(form, "version"),
                    "receiver", "김민지",
                    "address", "Jeju",
                    "message", "typed for an hour");
            proxy.refuse();
            proxy.disconnect();
            var refused = customer.post("/orders/" + order, typed);
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
            assertThat(refused.body()).contains("The database does not answer").contains("typed for an hour");
            assertThat(refused.body()).doesNotContain("Exception");
            getAll(customer, "/orders", "/orders/" + order, "/shipping", "/nodes")
                    .forEach((path, answer) -> {
                        assertThat(answer.statusCode()).as(path).isEqualTo(503);
                        assertThat(answer.body()).as(path).contains("The database does not answer");
                    });
            assertThat(customer.get("/").statusCode()).isEqualTo(200);

            proxy.resume();
            var saved = customer.post("/orders/" + order, typed);
            for (int i = 0; i < 20 && saved.statusCode() == 503; i++) { // the pool has to notice, too
                TimeUnit.MILLISECONDS.sleep(200);
                saved = customer.post("/orders/" + order, typed);
            }
            assertThat(saved.statusCode()).as(saved.body()).isEqualTo(200);
            assertThat(saved.body()).contains("Saved.").contains("typed for an hour");
        }
    }

    /** At once: some wait for seconds for what the locks need. */
    private static Map<String, HttpResponse<String>> getAll(Visitor visitor, String... paths) throws Exception {
        Map<String, CompletableFuture<HttpResponse<String>>> asked = new LinkedHashMap<>();
        for (String path : paths) {
            asked.put(path, visitor.begin(path));
        }
        Map<String, HttpResponse<String>> answers = new LinkedHashMap<>();
        for (var each : asked.entrySet()) {
            answers.put(each.getKey(), each.getValue().get(60, TimeUnit.SECONDS));
        }
        return answers;
    }
}
