// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.view.json.JacksonJsonView;

/** What was found by looking for holes: each is closed. */
class EditLockHardeningTest {

    private static final String TAB = "tab-0001";
    private static final Map<LockName, String> VERSIONS = new ConcurrentHashMap<>();

    private static HikariDataSource pool;
    private static EditServer server;

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private final String lock = "/order/" + name.id();
    private final Person kim = server.person("kim");
    private final Person boss = server.person("boss");

    static class Application {

        /** Looks at the person only, as a policy by role does. */
        @Bean
        EditLockPolicy policy() {
            return new EditLockPolicy() {
                @Override
                public boolean mayEdit(Principal person, LockName name) {
                    return true;
                }

                @Override
                public boolean mayTakeOver(Principal person, LockData held) {
                    return person.getName().equals("boss");
                }
            };
        }

        @Bean
        EditLockVersions versions() {
            return name -> Optional.of(VERSIONS.getOrDefault(name, "\"1\""));
        }

        @Bean
        Orders orders(JdbcTemplate jdbc, Locks locks) {
            return new Orders(jdbc, locks);
        }
    }

    @RestController
    static class Orders {

        private final JdbcTemplate jdbc;
        private final Locks locks;

        Orders(JdbcTemplate jdbc, Locks locks) {
            this.jdbc = jdbc;
            this.locks = locks;
        }

        private void write(String no) {
            jdbc.update("INSERT INTO hardening VALUES (?)", no);
        }

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public String save(@PathVariable String no) {
            write(no);
            return "saved";
        }

        @PostMapping("/view/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public ModelAndView view(@PathVariable String no) {
            write(no);
            ModelAndView view = new ModelAndView(new JacksonJsonView());
            view.setStatus(HttpStatus.UNPROCESSABLE_CONTENT);
            return view;
        }

        /** Its template shows the lid, as one for a form does. */
        @PostMapping("/again/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public ModelAndView again(@PathVariable String no, EditLock lock) {
            lock.keep();
            View template = (model, request, response) ->
                    response.getWriter().write("lid=" + request.getAttribute("lid") + " " + no);
            return new ModelAndView(template);
        }

        @PostMapping("/status/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public void status(@PathVariable String no, HttpServletResponse response) {
            write(no);
            response.setStatus(422);
        }

        @PostMapping("/annotated/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        @ResponseStatus(HttpStatus.UNPROCESSABLE_CONTENT)
        public void annotated(@PathVariable String no) {
            write(no);
        }

        /** As a form for signing in does. */
        @GetMapping("/session")
        public String session(HttpServletRequest request) {
            HttpSession session = request.getSession();
            session.setMaxInactiveInterval(8);
            return session.getId();
        }

        @GetMapping("/job")
        public void job() {
            throw new AlreadyLockedException(
                    LockName.of("job"), locks.admin().find(LockName.of("job")).orElseThrow(), "");
        }
    }

    @BeforeAll
    static void start() {
        pool = TestDatabases.h2().pool(5);
        TestDatabases.h2().execute("CREATE TABLE IF NOT EXISTS hardening (no VARCHAR(100))");
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"), Application.class);
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    @BeforeEach
    void first_version() {
        VERSIONS.put(name, "\"1\"");
    }

    private int written() {
        Integer count = new JdbcTemplate(pool)
                .queryForObject("SELECT COUNT(*) FROM hardening WHERE no = ?", Integer.class, name.id());
        return count == null ? -1 : count;
    }

    @ParameterizedTest
    @ValueSource(strings = {"view", "status", "annotated"})
    void handler_that_answers_with_an_error_has_saved_nothing_and_keeps_the_lock(String how) {
        String token = kim.take(lock, TAB).is(201).token();

        kim.send("POST", "//" + how + "/" + name.id(), null, "Lock-Token", token)
                .is(422);

        assertThat(written()).isZero();
        kim.renew(lock, token).is(200);
    }

    @Test
    void form_that_is_shown_again_has_its_lid_again() {
        String token = kim.take(lock, TAB).is(201).token();

        assertThat(kim.send("POST", "//again/" + name.id(), null, "Lock-Token", token)
                        .is(200)
                        .text())
                .startsWith("lid=" + token + " ");
    }

    @Test
    void page_of_another_site_does_not_save_even_with_the_lock() {
        String token = kim.take(lock, TAB).is(201).token();

        kim.send("POST", "//orders/" + name.id(), null, "Lock-Token", token, "Sec-Fetch-Site", "cross-site")
                .isProblem(403, "cross-site");

        assertThat(written()).isZero();
    }

    @Test
    void token_in_a_url_is_refused_however_it_is_written() {
        String token = kim.take(lock, TAB).is(201).token();

        kim.send("POST", "//orders/" + name.id() + "?%6Cid=" + token, null).isProblem(400, "bad-request");

        assertThat(written()).isZero();
    }

    @Test
    void policy_does_not_open_what_the_settings_do_not_name() {
        kim.take("/shedlock/nightly", TAB).isProblem(403, "denied");
        boss.send("POST", "/lock/job/takeover", "{\"expectedFence\":1,\"reason\":\"mine\"}")
                .isProblem(403, "denied");
    }

    @Test
    void who_runs_a_job_is_nothing_for_people() {
        try (var lease = server.locks().lease("job").tryAcquire().orElseThrow()) {
            Person.Answer answer = kim.get("//job").isProblem(423, "held");

            assertThat(answer.get("owner")).isNull();
            assertThat(answer.get("fence")).isNull();
            assertThat(answer.text()).doesNotContain(String.valueOf(lease.fence()));
        }
    }

    @Test
    void that_someone_else_is_at_it_comes_before_that_the_copy_is_old() {
        String token = kim.take(lock, TAB).is(201).token();
        VERSIONS.put(name, "\"2\"");

        boss.take(lock, "tab-0002", "If-Match", "\"1\"").isProblem(423, "held");
        kim.take(lock, TAB, "If-Match", "\"1\"").isProblem(412, "stale-version");
        kim.take(lock, TAB, "If-Match", "\"1\"", "Lock-Token", token).isProblem(412, "stale-version");
        kim.renew(lock, token).is(200);
    }

    @Test
    void nobody_is_robbed_for_a_copy_that_is_old_already() {
        Person.Answer taken = kim.take(lock, TAB).is(201);
        VERSIONS.put(name, "\"2\"");
        String body = "{\"expectedFence\":" + taken.fence() + ",\"reason\":\"needed\",\"clientId\":\"tab-0002\"}";

        boss.send("POST", lock + "/takeover", body, "If-Match", "\"1\"").isProblem(412, "stale-version");
        kim.renew(lock, taken.token()).is(200);

        boss.send("POST", lock + "/takeover", body, "If-Match", "\"2\"").is(201);
    }

    @Test
    void page_that_renews_by_itself_does_not_keep_its_login_alive() throws Exception {
        String token = kim.take(lock, TAB).is(201).token();
        String cookie = "XSRF-TOKEN=0123456789; JSESSIONID="
                + kim.get("//session").is(200).text();
        long began = System.nanoTime();
        int used = 0;
        Person.Answer answer;
        do {
            TimeUnit.MILLISECONDS.sleep(200);
            if (used < 2 && System.nanoTime() - began > TimeUnit.SECONDS.toNanos(3) * (used + 1)) {
                used++;
                kim.send("GET", "//session", null, "Cookie", cookie).is(200);
            }
            answer = kim.send("PATCH", lock, null, "Lock-Token", token, "Cookie", cookie);
        } while (answer.status() == 200 && System.nanoTime() - began < TimeUnit.SECONDS.toNanos(60));

        answer.isProblem(401, "sign-in");
        assertThat(used).as("uses that kept it alive").isEqualTo(2);
        assertThat(System.nanoTime() - began)
                .as("eight seconds after the last use")
                .isGreaterThan(TimeUnit.SECONDS.toNanos(13));
    }

    @Test
    void large_body_is_refused_before_it_is_read() {
        kim.send("PUT", lock, "{\"clientId\":\"tab-0001\",\"note\":\"" + "x".repeat(20_000) + "\"}")
                .isProblem(413, "too-large");
    }

    @Test
    void line_break_in_a_name_is_refused() {
        kim.take("/order/42%0AERROR", TAB).is(400);
    }

    @Test
    void header_with_the_lock_id_is_hidden_from_who_writes_headers_down() throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest("PATCH", "/");
        request.addHeader("lock-token", "secret");
        request.addHeader("Accept", "text/html");
        FilterChain chain = (seen, response) -> {
            HttpServletRequest http = (HttpServletRequest) seen;
            assertThat(http.getHeader("Lock-Token")).isNull();
            assertThat(http.getHeaders("LOCK-TOKEN").hasMoreElements()).isFalse();
            assertThat(Collections.list(http.getHeaderNames())).containsExactly("Accept");
            assertThat(Requests.token(http)).contains("secret");
            throw new IllegalStateException("seen");
        };

        assertThat(catchThrowable(() -> new LockTokenFilter().doFilter(request, new MockHttpServletResponse(), chain)))
                .hasMessage("seen");
    }
}
