// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Locks;
import io.bitjang.shop.Shop;
import io.bitjang.shop.start.Database;
import io.bitjang.shop.start.Options;
import io.bitjang.shop.start.RunFile;
import io.bitjang.shop.start.Start;
import io.bitjang.shop.start.Tables;
import io.bitjang.testkit.ChildJvm;
import io.bitjang.testkit.TcpProxy;
import io.bitjang.testkit.TestDatabase;
import io.bitjang.testkit.TestDatabases;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop on those databases on which no browser looks at it. */
class DatabasesTest {
    @TempDir
    Path folder;

    static List<String> others() {
        return TestDatabases.selected().stream()
                .filter(each -> !InShop.databases().contains(each))
                .toList();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("others")
    void cards_and_parcels_come_out_as_they_do_on_the_others(String database) throws Exception {
        try (ConfigurableApplicationContext shop = Start.shop(options("--database=" + database))) {
            Visitor operator = new Visitor(Start.address(shop), "operator");
            int played = 0;
            for (String way : List.of("none", "seed", "bitjang")) {
                operator.post("/cards/" + way, Map.of());
                await(operator, "/cards/live", "data-over=\"(true)\"", ++played);
            }
            for (String lane : List.of("unprotected", "pessimistic", "optimistic", "plain-line", "line")) {
                operator.post("/race/" + lane + "/both", Map.of());
            }
            assertThat(await(operator, "/cards/live", "data-cards=\"(\\d+)\"", 3)
                            .get(2))
                    .isEqualTo("2");
            assertThat(await(operator, "/race/live", "data-outcome=\"(\\w+)\"", 5))
                    .containsExactly("damaged", "sound", "sound", "damaged", "sound");
            assertThat(operator.get("/race/live").body()).doesNotContain("failed:");
        }
    }

    /** What a part of a page says in so many places, as soon as it does. */
    private static List<String> await(Visitor visitor, String path, String pattern, int times) throws Exception {
        String page = "";
        for (int i = 0; i < 300; i++) {
            page = visitor.get(path).body();
            List<String> found = Pattern.compile(pattern)
                    .matcher(page)
                    .results()
                    .map(each -> each.group(1))
                    .toList();
            if (found.size() == times) {
                return found;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        throw new AssertionError("Not " + times + " times " + pattern + " in " + page);
    }

    static List<String> servers() {
        return TestDatabases.selected().stream()
                .filter(each -> !each.equals("h2"))
                .toList();
    }

    /** As on a machine where others use the CPU: with two seconds for it, nodes died there before anybody saw them. */
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("servers")
    void a_node_starts_although_its_first_connection_takes_seconds(String name) throws Exception {
        TestDatabase database = TestDatabases.byName(name);
        Tables.prepare(
                new Database(name, database.jdbcUrl(), database.jdbcUrl(), database.user(), database.password()));
        Locks.builder(database.dataSource()).schema(Locks.Schema.CREATE).build().close();
        try (TcpProxy proxy = TcpProxy.to(database)) {
            Properties reach = new Properties();
            reach.setProperty("url", database.through(proxy.port()).jdbcUrl());
            reach.setProperty("user", database.user());
            reach.setProperty("password", database.password());
            Path runFile = folder.resolve("slow.properties");
            try (Writer out = Files.newBufferedWriter(runFile)) {
                reach.store(out, null);
            }
            proxy.stall();
            try (ChildJvm node = ChildJvm.of(Shop.class)
                    .property(RunFile.PROPERTY, runFile.toString())
                    .args("node")
                    .start()) {
                while (node.isAlive() && proxy.connections() == 0) {
                    TimeUnit.MILLISECONDS.sleep(10);
                }
                TimeUnit.MILLISECONDS.sleep(2_500); // nothing happens, which is the point
                proxy.resume();
                assertThat(node.readLineStartingWith("node-", Duration.ofSeconds(60)))
                        .contains("is here, process " + node.pid());
            }
        }
    }

    @Test
    void a_second_shop_on_the_same_database_finds_what_the_first_one_left() throws Exception {
        String url = "--url=jdbc:h2:" + folder.resolve("again");
        for (int visit = 0; visit < 2; visit++) {
            try (ConfigurableApplicationContext shop = Start.shop(options(url))) {
                Visitor customer = new Visitor(Start.address(shop), "customer");
                var form = customer.get("/shipping/2001");
                assertThat(Visitor.field(form, "version")).isEqualTo(String.valueOf(visit));
                Matcher address = Pattern.compile("name=\"address\"[^>]* value=\"([^\"]*)\"")
                        .matcher(form.body());
                assertThat(address.find()).isTrue();
                assertThat(address.group(1).equals("Jeju 0")).isEqualTo(visit == 1);
                customer.post(
                        "/changeShipping",
                        Map.of(
                                "number",
                                "2001",
                                "version",
                                String.valueOf(visit),
                                "receiver",
                                "Kim",
                                "address",
                                "Jeju " + visit));
            }
        }
    }

    private Options options(String... more) {
        List<String> all = new java.util.ArrayList<>(List.of(more));
        all.add("--port=0");
        all.add("--shop.run-file=" + folder.resolve("running.properties"));
        return Options.of(all.toArray(String[]::new));
    }
}
