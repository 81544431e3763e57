// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.admin.LockFilter;
import io.bitjang.testkit.TestDatabases;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** No person takes what all others need: locks, rows, listeners, threads. */
class EditLockLimitsTest {

    private static final String TAB = "tab-0001";
    private static final Duration QUICK = Duration.ofMillis(50);

    private final String type = "t" + UUID.randomUUID().toString().substring(0, 8);
    private HikariDataSource pool;

    @BeforeEach
    void start() {
        pool = TestDatabases.h2().pool(8);
    }

    @AfterEach
    void stop() {
        pool.close();
    }

    private EditServer server(UnaryOperator<EditLockSettings.Limits> limits) {
        return new EditServer(
                pool,
                Locks.builder(pool),
                EditLockSettings.ofTypes(type, type + "-2")
                        .withPollInterval(QUICK)
                        .withLimits(limits.apply(EditLockSettings.Limits.defaults())));
    }

    private String lock(int number) {
        return "/" + type + "/" + number;
    }

    private int heldBy(EditServer server, String person) {
        return server.locks()
                .admin()
                .list(LockFilter.held().ofType(type).ownedBy(person))
                .size();
    }

    @Test
    void one_person_holds_no_more_locks_than_the_limit() {
        try (EditServer server = server(limits -> limits.withLocksPerPerson(3))) {
            Person kim = server.person("kim");
            String first = kim.take(lock(1), TAB).is(201).token();
            kim.take(lock(2), TAB).is(201);
            kim.take("/" + type + "-2/3", TAB).is(201); // all types count together
            Person.Answer refused = kim.take(lock(4), TAB).isProblem(429, "too-many-locks");
            assertThat((String) refused.get("detail")).contains("3 things");
            assertThat(refused.header("retry-after")).isNotBlank();
            assertThat(server.locks().admin().find(LockName.of(type, "4"))).isEmpty(); // no row is left

            kim.take(lock(2), TAB).is(200); // a page that is loaded again
            Person lee = server.person("lee");
            lee.take(lock(4), TAB).is(201);
            kim.take(lock(4), TAB).isProblem(423, "held");
            kim.release(lock(1), first).is(204);
            kim.take(lock(5), TAB).is(201);
        }
    }

    @Test
    void locks_that_are_taken_at_the_same_time_count_too() throws Exception {
        int most = 3;
        int askers = 8;
        ExecutorService threads = Executors.newFixedThreadPool(askers);
        try (EditServer server = server(limits -> limits.withLocksPerPerson(most))) {
            Person kim = server.person("kim");
            kim.get(lock(0)).is(200);
            CountDownLatch together = new CountDownLatch(askers);
            List<Future<Person.Answer>> answers = IntStream.range(0, askers)
                    .mapToObj(i -> threads.submit(() -> {
                        together.countDown();
                        together.await();
                        return kim.take(lock(i), TAB);
                    }))
                    .toList();
            for (Future<Person.Answer> answer : answers) {
                assertThat(answer.get(30, TimeUnit.SECONDS).status()).isIn(201, 429);
            }
            assertThat(heldBy(server, "kim")).isLessThanOrEqualTo(most);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void take_over_counts_unless_it_is_from_oneself() {
        try (EditServer server = server(limits -> limits.withLocksPerPerson(1))) {
            Person kim = server.person("kim");
            long fence = kim.take(lock(1), TAB).is(201).fence();
            kim.takeOver(lock(1), fence, "tab-0002").is(201);
            assertThat(heldBy(server, "kim")).isOne();
        }
    }

    @Test
    void row_that_nobody_has_held_for_long_is_removed() throws Exception {
        try (EditServer server = server(limits -> limits.withSweepAfter(Duration.ofHours(1)));
                Locks locks = Locks.create(pool)) {
            LockId old = locks.manager().tryLock(type, "old", "kim");
            locks.manager().releaseLock(old);
            LockId fresh = locks.manager().tryLock(type, "fresh", "kim");
            locks.manager().releaseLock(fresh);
            try (var connection = pool.getConnection();
                    var statement = connection.prepareStatement(
                            "UPDATE bitjang_locks SET expires_at = expires_at - 7200000000 WHERE type = ? AND id = 'old'")) {
                statement.setString(1, type);
                assertThat(statement.executeUpdate()).isOne();
            }
            server.person("kim").take(lock(1), TAB).is(201);
            long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (locks.admin().find(LockName.of(type, "old")).isPresent() && System.nanoTime() < deadline) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
            assertThat(locks.admin().find(LockName.of(type, "old"))).isEmpty();
            assertThat(locks.admin().find(LockName.of(type, "fresh"))).isPresent();
        }
    }

    @Test
    void one_person_has_no_more_listeners_than_the_limit_even_if_they_come_at_once() throws Exception {
        int most = 3;
        List<HttpResponse<InputStream>> answers = new ArrayList<>();
        try (EditServer server = server(limits -> limits.withListenersPerPerson(most))) {
            Person kim = server.person("kim");
            HttpClient client = HttpClient.newHttpClient();
            List<CompletableFuture<HttpResponse<InputStream>>> coming = IntStream.range(0, 12)
                    .mapToObj(i -> client.sendAsync(
                            kim.request("/events").GET().build(), HttpResponse.BodyHandlers.ofInputStream()))
                    .toList();
            for (CompletableFuture<HttpResponse<InputStream>> each : coming) {
                answers.add(each.get(30, TimeUnit.SECONDS));
            }
            assertThat(answers).filteredOn(each -> each.statusCode() == 200).hasSize(most);
            assertThat(answers).filteredOn(each -> each.statusCode() == 429).hasSize(answers.size() - most);
            kim.get("/events").isProblem(429, "too-many-listeners");
            new EditLockEventsTest.Ear(server.person("lee"), "/events").close();
        } finally {
            for (HttpResponse<InputStream> answer : answers) {
                answer.body().close();
            }
        }
    }

    /** The answer to a browser that never reads, when all buffers on the way are full. */
    private static final class NeverRead extends MockHttpServletResponse {

        private final CountDownLatch written = new CountDownLatch(1);
        private final CountDownLatch end;

        NeverRead(CountDownLatch end) {
            this.end = end;
        }

        @Override
        public ServletOutputStream getOutputStream() {
            return new ServletOutputStream() {
                @Override
                public void write(int b) throws IOException {
                    written.countDown();
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setWriteListener(WriteListener listener) {}
            };
        }
    }

    @Test
    void listeners_that_never_read_hold_up_nobody_else() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (EditServer server = server(UnaryOperator.identity());
                Locks otherNode = Locks.create(pool)) {
            EditLockFeed feed = server.context.getBean(EditLockFeed.class);
            for (int i = 0; i < 10; i++) {
                MockHttpServletRequest request = new MockHttpServletRequest("GET", "/bitjang/edit-locks/events");
                request.setAsyncSupported(true);
                NeverRead response = new NeverRead(end);
                feed.join(() -> "lee", null, null).writeTo(request, response, List::of);
                assertThat(response.written.await(30, TimeUnit.SECONDS)).isTrue();
            }
            try (EditLockEventsTest.Ear ear = new EditLockEventsTest.Ear(server.person("kim"), "/events")) {
                otherNode.manager().tryLock(type, "1", "boss");
                assertThat(ear.next()).contains(type);
            }
        } finally {
            end.countDown();
        }
    }

    @Test
    void node_looks_at_no_more_locks_than_the_limit_and_single_locks_in_any_case() throws Exception {
        try (EditServer server = server(limits -> limits.withWatched(2));
                Locks otherNode = Locks.create(pool)) {
            for (String id : List.of("b", "c", "d", "e")) {
                otherNode.manager().tryLock(type, id, "boss");
            }
            EditLockView view = EditLockView.of(otherNode.admin(), type, 2, Set.of(LockName.of(type, "e")));
            assertThat(view.held())
                    .containsOnlyKeys(LockName.of(type, "b"), LockName.of(type, "c"), LockName.of(type, "e"));
            assertThat(view.isCut()).isTrue();

            try (EditLockEventsTest.Ear all = new EditLockEventsTest.Ear(server.person("kim"), "/events?type=" + type);
                    EditLockEventsTest.Ear one =
                            new EditLockEventsTest.Ear(server.person("kim"), "/events?type=" + type + "&id=z")) {
                otherNode.manager().tryLock(type, "a", "boss"); // now c is beyond what is looked at, but not free
                assertThat(all.next()).contains("\"id\":\"a\",\"held\":true");
                otherNode.manager().tryLock(type, "z", "boss");
                assertThat(one.next()).contains("\"id\":\"z\",\"held\":true");
                assertThat(all.next()).contains("\"id\":\"z\"");
            }
        }
    }
}
