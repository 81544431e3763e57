// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.admin.LockAdmin;
import io.bitjang.spring.TransactionalLockManager;
import io.bitjang.spring.web.EditLocks;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
class WholeApplicationTest {

    private static final String ORDER = "/bitjang/edit-locks/order/42";

    @Test
    void a_person_takes_a_lock_over_http_and_saves_with_it() {
        try (Shop shop = Shop.open()) {
            HttpResponse<String> taken = take(shop);
            assertThat(taken.statusCode()).as(taken.body()).isEqualTo(201);
            String token = token(taken);
            assertThat(save(shop, null).statusCode()).isEqualTo(428);
            HttpResponse<String> saved = save(shop, token);
            assertThat(saved.statusCode()).as(saved.body()).isEqualTo(200);
            assertThat(shop.bean(LockAdmin.class)
                            .find(new LockId(token).name())
                            .orElseThrow()
                            .held())
                    .isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bitjang.edit-locks.types=", "bitjang.edit-locks.enabled=false"})
    void handler_that_requires_a_lock_which_nobody_would_look_at_stops_the_start(String setting) {
        assertThatThrownBy(() -> Shop.open(setting).close())
                .isInstanceOf(LocksStartException.class)
                .hasMessageContaining("Pages.save has no effect");
    }

    @Test
    void without_types_and_policy_there_is_no_edit_lock() {
        web().run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(EditLocks.class));
    }

    @Test
    void application_with_its_own_locks_has_edit_locks_too() {
        web().withPropertyValues("bitjang.edit-locks.types=order")
                .withBean("mine", Locks.class, () -> Locks.create(new DriverManagerDataSource(Apps.h2(), "sa", "")))
                .run(context -> {
                    assertThat(context).hasSingleBean(EditLocks.class);
                    assertThat(context.getBean(LockManager.class)).isInstanceOf(TransactionalLockManager.class);
                });
    }

    private static WebApplicationContextRunner web() {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        WebMvcAutoConfiguration.class,
                        BitjangAutoConfiguration.class,
                        BitjangLockingAutoConfiguration.class,
                        BitjangWebAutoConfiguration.class,
                        BitjangHandlersAutoConfiguration.class));
    }

    @Test
    void on_virtual_threads_locks_work_as_on_others() {
        try (Shop shop = Shop.open("spring.threads.virtual.enabled=true")) {
            HttpResponse<String> answer = shop.get("/thread");
            assertThat(answer.statusCode()).isEqualTo(200);
            // before Java 21 Boot ignores the setting
            boolean virtual = Runtime.version().feature() >= 21;
            assertThat(answer.body().contains("VirtualThread"))
                    .as(answer.body())
                    .isEqualTo(virtual);
            assertThat(take(shop).statusCode()).isEqualTo(201);
            assertThat(shop.get("/actuator/health/bitjang").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void no_log_meter_observation_or_answer_of_the_actuator_has_a_lock_id(CapturedOutput output) {
        LoggerContext logs = (LoggerContext) LoggerFactory.getILoggerFactory();
        List<Logger> talkative = List.of(logs.getLogger("io.bitjang"), logs.getLogger("org.springframework"));
        List<String> observed = new CopyOnWriteArrayList<>();
        List<String> shown = new ArrayList<>();
        List<String> secrets = new ArrayList<>();
        try (Shop shop = Shop.open(
                "logging.level.io.bitjang=DEBUG",
                "logging.level.org.springframework=DEBUG",
                "management.endpoint.locks.access=unrestricted",
                "bitjang.audit=true")) {
            shop.bean(ObservationRegistry.class).observationConfig().observationHandler(new Remember(observed));
            LockManager manager = shop.bean(LockManager.class);
            LockId mine = manager.tryLock("order", "1", "ann");
            secrets.add(secretOf(mine));
            secrets.add(secretOf(new LockId(token(take(shop)))));
            secrets.add(secretOf(
                    manager.takeOver(manager.checkLock(mine), "bob", java.time.Duration.ofMinutes(1), null, "test")
                            .orElseThrow()));
            shop.bean(Locks.class).lease("job").run(Wait.none(), () -> {});
            assertInTable(shop, secrets.get(1));
            String token = token2(shop);
            secrets.add(secretOf(new LockId(token)));
            save(shop, token);
            save(shop, token);
            for (String path : List.of(
                    "",
                    "/locks",
                    "/locks?state=any",
                    "/locks/order/1",
                    "/health",
                    "/metrics",
                    "/metrics/bitjang.acquire",
                    "/metrics/bitjang.lock.events",
                    "/beans",
                    "/env",
                    "/configprops",
                    "/loggers",
                    "/mappings",
                    "/threaddump",
                    "/httpexchanges",
                    "/scheduledtasks")) {
                shown.add(shop.get("/actuator" + path).body());
            }
            shown.add(shop.post("/actuator/locks/order/1", "{\"expectedFence\": 1, \"reason\": \"x\"}")
                    .body());
            shop.bean(MeterRegistry.class)
                    .getMeters()
                    .forEach(meter -> shown.add(meter.getId() + " " + meter.measure()));
        } finally {
            talkative.forEach(each -> each.setLevel(null));
        }
        assertThat(output.getAll()).contains("DEBUG");
        assertThat(shown).as("exchanges with their headers").anyMatch(each -> each.contains("/orders/7"));
        assertThat(observed).anyMatch(each -> each.contains("bitjang.acquire"));
        for (String secret : secrets) {
            assertThat(output.getAll().contains(secret))
                    .as("in the log: " + secret)
                    .isFalse();
            assertThat(observed).noneMatch(each -> each.contains(secret));
            assertThat(shown).noneMatch(each -> each.contains(secret));
        }
    }

    /** What the text of the lock id and the random part in the table have in common. */
    private static String secretOf(LockId id) {
        return id.value().substring(12, 32);
    }

    private static void assertInTable(Shop shop, String secret) {
        assertThat(shop.bean(JdbcTemplate.class).queryForList("SELECT lock_id FROM bitjang_locks", String.class))
                .anyMatch(each -> each != null && each.startsWith(secret));
    }

    private static HttpResponse<String> take(Shop shop) {
        return put(shop, ORDER);
    }

    private static String token2(Shop shop) {
        return token(put(shop, "/bitjang/edit-locks/order/7"));
    }

    private static HttpResponse<String> put(Shop shop, String path) {
        return shop.send(shop.request(path)
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString("{\"clientId\": \"tab-1-0123456789\"}")));
    }

    private static HttpResponse<String> save(Shop shop, String token) {
        HttpRequest.Builder request = shop.request("/orders/"
                        + (token == null ? "42" : new LockId(token).name().id()))
                .POST(HttpRequest.BodyPublishers.noBody());
        return shop.send(token == null ? request : request.header("Lock-Token", token));
    }

    private static String token(HttpResponse<String> answer) {
        return answer.headers().firstValue("Lock-Token").orElseGet(() -> {
            JsonNode body = JsonMapper.shared().readTree(answer.body());
            return body.path("lockId").asString(body.path("token").asString(""));
        });
    }

    /** Keeps all that tracing would see. */
    private record Remember(List<String> seen) implements ObservationHandler<Observation.Context> {

        @Override
        public void onStop(Observation.Context context) {
            seen.add(context.getName() + " " + context.getContextualName() + " " + context.getAllKeyValues() + " "
                    + context.getError());
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}
