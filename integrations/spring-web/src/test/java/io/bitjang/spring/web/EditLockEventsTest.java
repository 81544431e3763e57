// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;

/** Changes are told as they happen. */
class EditLockEventsTest {

    private static final String TAB = "tab-0001";
    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration QUICK = Duration.ofMillis(50);
    private static final String END = "(end)";

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private final String lock = "/order/" + name.id();
    private HikariDataSource pool;
    private Locks otherNode;

    @BeforeEach
    void start() {
        pool = TestDatabases.h2().pool(5);
        otherNode = Locks.create(pool);
    }

    @AfterEach
    void stop() {
        otherNode.close();
        pool.close();
    }

    private EditServer server(Duration poll, Class<?>... more) {
        return new EditServer(
                pool, Locks.builder(pool), EditLockSettings.ofTypes("order").withPollInterval(poll), more);
    }

    /** Someone who listens. */
    static final class Ear implements AutoCloseable {

        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        private final HttpResponse<InputStream> response;
        private final Thread reading;

        Ear(Person person, String path) throws Exception {
            response = HttpClient.newHttpClient()
                    .send(person.request(path).GET().build(), HttpResponse.BodyHandlers.ofInputStream());
            reading = new Thread(() -> {
                try (var reader = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
                    reader.lines().filter(line -> !line.isEmpty()).forEach(lines::add);
                } catch (UncheckedIOException | IOException e) {
                    lines.add("(" + e.getClass().getSimpleName() + ")");
                }
                lines.add(END);
            });
            reading.start();
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("content-type").orElseThrow())
                    .startsWith("text/event-stream");
            assertThat(response.headers().allValues("cache-control")).allMatch(value -> value.contains("no-store"));
            assertThat(next()).startsWith("retry:");
            assertThat(next()).isEqualTo(":ready");
        }

        String next() throws InterruptedException {
            return lines.poll(20, TimeUnit.SECONDS);
        }

        /** The next event that is about this lock. */
        String about(LockName name) throws InterruptedException {
            String line = next();
            while (line != null && !line.contains(name.id()) && !line.equals(END)) {
                line = next();
            }
            return line;
        }

        @Override
        public void close() throws Exception {
            response.body().close();
            reading.join(20_000);
        }
    }

    private String event(boolean held, String owner, long fence) {
        return "data:{\"type\":\"order\",\"id\":\"" + name.id() + "\",\"held\":" + held + ",\"owner\":"
                + (owner == null ? "null" : "\"" + owner + "\"") + ",\"fence\":" + fence + "}";
    }

    @Test
    void what_this_node_changes_is_told_at_once() throws Exception {
        try (EditServer server = server(NEVER);
                Ear ear = new Ear(server.person("lee"), "/events")) {
            Person kim = server.person("kim");
            Person.Answer taken = kim.take(lock, TAB);
            assertThat(ear.about(name)).isEqualTo(event(true, "kim", taken.fence()));
            kim.release(lock, taken.token());
            assertThat(ear.about(name)).isEqualTo(event(false, null, taken.fence()));
            // past the endpoints, by this node's own locks
            LockId id = server.locks().manager().tryLock("order", name.id(), "a batch");
            assertThat(ear.about(name)).isEqualTo(event(true, "a batch", id.fence()));
        }
    }

    @Test
    void what_another_node_changes_is_told_by_the_next_look() throws Exception {
        try (EditServer server = server(QUICK);
                Ear ear = new Ear(server.person("lee"), "/events?type=order&id=" + name.id())) {
            LockId id = otherNode.manager().tryLock("order", name.id(), "kim");
            otherNode.manager().tryLock("order", "x" + name.id(), "kim");
            assertThat(ear.next()).isEqualTo(event(true, "kim", id.fence()));
            otherNode.manager().leave(id, Duration.ofMillis(10)); // runs out
            assertThat(ear.about(name)).isEqualTo(event(false, null, id.fence()));
        }
    }

    @Test
    void what_was_before_is_no_change_and_other_types_are_not_told() throws Exception {
        otherNode.manager().tryLock("order", name.id(), "kim");
        try (EditServer server = server(QUICK);
                Ear ear = new Ear(server.person("lee"), "/events")) {
            otherNode.manager().tryLock("secret", name.id(), "kim");
            LockId last = otherNode.manager().tryLock("order", "last" + name.id(), "kim");
            assertThat(ear.next()).contains("last" + name.id()).contains("" + last.fence());
        }
    }

    static class NothingForLee {

        @Bean
        EditLockPolicy policy() {
            return new EditLockPolicy() {
                @Override
                public boolean mayEdit(Principal person, LockName name) {
                    return !person.getName().equals("lee") || name.id().startsWith("open");
                }

                @Override
                public boolean mayTakeOver(Principal person, LockData held) {
                    return false;
                }
            };
        }
    }

    @Test
    void nobody_hears_of_what_the_policy_hides() throws Exception {
        try (EditServer server = server(QUICK, NothingForLee.class);
                Ear kim = new Ear(server.person("kim"), "/events");
                Ear lee = new Ear(server.person("lee"), "/events")) {
            otherNode.manager().tryLock("order", name.id(), "boss");
            assertThat(kim.next()).contains(name.id());
            otherNode.manager().tryLock("order", "open" + name.id(), "boss");
            assertThat(lee.next()).contains("open" + name.id());
        }
    }

    @Test
    void listening_needs_a_person_and_a_type_that_may_be_seen() {
        try (EditServer server = server(QUICK)) {
            server.anybody().get("/events").isProblem(401, "sign-in");
            server.person("kim").get("/events?type=lock").isProblem(403, "denied");
        }
    }

    @Test
    void where_no_types_are_named_the_listener_says_one() throws Exception {
        try (EditServer server = new EditServer(
                        pool,
                        Locks.builder(pool),
                        EditLockSettings.ofTypes().withPollInterval(QUICK),
                        NothingForLee.class);
                Ear ear = new Ear(server.person("kim"), "/events?type=any")) {
            server.person("kim").get("/events").isProblem(400, "bad-request");
            otherNode.manager().tryLock("any", name.id(), "boss");
            assertThat(ear.next()).contains(name.id());
        }
    }

    @Test
    void endpoints_are_where_the_settings_say() throws Exception {
        EditLockSettings elsewhere =
                EditLockSettings.ofTypes("order").withPollInterval(QUICK).withBasePath("/my/locks");
        try (EditServer server = new EditServer(pool, Locks.builder(pool), elsewhere);
                Ear ear = new Ear(server.person("lee"), "//my/locks/events")) {
            server.person("kim").take("//my/locks" + lock, TAB).is(201);
            assertThat(ear.about(name)).contains("kim");
            server.person("kim").get(lock).is(404);
        }
    }

    @Test
    void number_of_listeners_has_a_limit_and_places_become_free() throws Exception {
        try (EditServer server = new EditServer(
                pool,
                Locks.builder(pool),
                EditLockSettings.ofTypes("order")
                        .withPollInterval(QUICK)
                        .withLimits(EditLockSettings.Limits.defaults().withListeners(1)))) {
            Person kim = server.person("kim");
            try (Ear ear = new Ear(kim, "/events")) {
                assertThat(kim.get("/events")
                                .isProblem(503, "too-many-listeners")
                                .header("retry-after"))
                        .isEqualTo("5");
                assertThat(ear.response.statusCode()).isEqualTo(200);
            }
            // it is noticed when something is written to the one who has gone
            long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (places(server) > 0 && System.nanoTime() < deadline) {
                LockId id = otherNode.manager().tryLock("order", name.id(), "kim");
                TimeUnit.MILLISECONDS.sleep(60);
                otherNode.manager().releaseLock(id);
                TimeUnit.MILLISECONDS.sleep(60);
            }
            new Ear(kim, "/events").close();
        }
    }

    private static int places(EditServer server) {
        return server.context.getBean(EditLockFeed.class).listening();
    }

    @Test
    void listeners_do_not_hold_up_the_end_of_the_application() throws Exception {
        EditServer server = server(NEVER);
        try (Ear ear = new Ear(server.person("kim"), "/events")) {
            long begin = System.nanoTime();
            server.close();
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(5));
            assertThat(ear.next()).isEqualTo(END);
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.isAlive() && thread.getName().equals("bitjang-edit-lock-feed"));
    }
}
