// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The application's own handlers run only for the holder of the lock. */
class EditLockGuardTest {

    private static final String TAB = "tab-0001";
    private static final Map<LockName, String> VERSIONS = new ConcurrentHashMap<>();
    private static HikariDataSource pool;
    private static EditServer server;

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private final String lock = "/order/" + name.id();
    private final Person kim = server.person("kim");
    private final Person lee = server.person("lee");

    /** A form, bound from fields. */
    public record Form(String no, int amount) {}

    static class Application {

        @Bean
        EditLockVersions versions() {
            return name -> Optional.ofNullable(VERSIONS.get(name));
        }

        /** Strangers may nothing. */
        @Bean
        EditLockPolicy policy() {
            return new EditLockPolicy() {
                @Override
                public boolean mayEdit(Principal person, LockName name) {
                    return !person.getName().equals("stranger");
                }

                @Override
                public boolean mayTakeOver(Principal person, LockData held) {
                    return person.getName().equals("boss");
                }
            };
        }

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @RestController
    static class Orders {

        @PostMapping("/orders/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        public String save(@PathVariable String no, EditLock lock, @RequestParam(defaultValue = "false") boolean keep) {
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            assertThat(lock.name()).isEqualTo(LockName.of("order", no));
            assertThat(lock.id().fence()).isEqualTo(lock.fence());
            if (keep) {
                lock.keep();
            }
            return "saved " + no;
        }

        @PostMapping("/versioned")
        @RequiresEditLock(type = "order", id = "#{#form.no()}", version = true)
        ResponseEntity<String> versioned(@ModelAttribute Form form) {
            return form.amount() < 0
                    ? ResponseEntity.status(HttpStatus.UNPROCESSABLE_CONTENT).body("negative")
                    : ResponseEntity.ok("saved");
        }

        @PostMapping("/failing/{no}")
        @RequiresEditLock(type = "order", id = "#{#p0}")
        void fail(@PathVariable String no) {
            throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, no);
        }

        @PostMapping("/lapsing/{no}")
        @RequiresEditLock(type = "order", id = "{no}", acceptLapsed = true)
        String lapsing() {
            return "saved";
        }

        @PostMapping("/forms/{no}")
        @RequiresEditLock(type = "order", id = "{no}")
        String form(@ModelAttribute("form") Form form, BindingResult errors) {
            return errors.hasErrors() ? "shown again" : "saved";
        }
    }

    @BeforeAll
    static void start() {
        pool = TestDatabases.h2().pool(5);
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"), Application.class);
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    @BeforeEach
    void there_is_such_an_order() {
        VERSIONS.put(name, "\"7\"");
    }

    private boolean isHeld() {
        return server.locks().admin().find(name).filter(LockData::held).isPresent();
    }

    /** A form, as a page without JavaScript sends it. */
    private static Person.Answer post(Person person, String path, String form, String... headers) {
        String[] all = Arrays.copyOf(headers, headers.length + 2);
        all[headers.length] = "Content-Type";
        all[headers.length + 1] = "application/x-www-form-urlencoded";
        return person.send("POST", "/" + path, form, all);
    }

    private Person.Answer save(Person person, String... headers) {
        return post(person, "/orders/" + name.id(), "", headers);
    }

    @Test
    void one_decision_in_this_order() {
        LockName missing = LockName.of("order", "missing");
        String worst = "no=" + name.id() + "&amount=-1&version=6";
        String dead = kim.take(lock, TAB).token();
        kim.release(lock, dead);

        post(server.anybody(), "/versioned", "no=" + missing.id() + "&amount=-1")
                .isProblem(401, "sign-in");
        post(server.person("stranger"), "/versioned", "no=" + missing.id() + "&amount=-1")
                .isProblem(403, "denied");
        post(kim, "/versioned", "no=" + missing.id() + "&amount=-1").isProblem(404, "not-found");
        post(kim, "/versioned", worst).isProblem(428, "lock-required");
        post(kim, "/versioned", "no=" + name.id() + "&amount=-1&lid=" + dead).isProblem(428, "lock-required");
        post(kim, "/versioned", worst + "&lid=" + dead).isProblem(410, "lapsed");
        String lees = lee.take(lock, TAB).token();
        assertThat(post(kim, "/versioned", worst + "&lid=" + dead)
                        .isProblem(423, "held")
                        .json())
                .containsEntry("owner", "lee")
                .containsEntry("mine", false);
        lee.release(lock, lees);
        String live = kim.take(lock, TAB).token();
        post(kim, "/versioned", worst + "&lid=" + live).isProblem(412, "stale-version");
        assertThat(isHeld()).isTrue();
        post(kim, "/versioned", "no=" + name.id() + "&amount=-1&version=7&lid=" + live)
                .is(422);
        assertThat(isHeld()).isTrue();
        post(kim, "/versioned", "no=" + name.id() + "&amount=1&version=7&lid=" + live)
                .is(200);
        assertThat(isHeld()).isFalse();
    }

    @Test
    void token_comes_in_the_header_or_in_the_form() {
        assertThat(save(kim, "Lock-Token", kim.take(lock, TAB).token()).is(200).text())
                .isEqualTo("saved " + name.id());
        assertThat(isHeld()).isFalse();
        post(kim, "/orders/" + name.id(), "lid=" + kim.take(lock, TAB).token()).is(200);
        assertThat(isHeld()).isFalse();
    }

    @Test
    void handler_may_keep_the_lock() {
        String token = kim.take(lock, TAB).token();
        post(kim, "/orders/" + name.id(), "keep=true&lid=" + token).is(200);
        kim.renew(lock, token).is(200);
        save(kim, "Lock-Token", token).is(200);
        save(kim, "Lock-Token", token).isProblem(410, "lapsed");
    }

    @Test
    void who_lost_the_lock_to_an_operator_is_told_who_took_it_and_why() {
        Person.Answer taken = kim.take(lock, TAB);
        server.locks().admin().forceRelease(name, taken.fence(), "ops", "she is on holiday");
        for (Person.Answer answer : List.of(kim.renew(lock, taken.token()), save(kim, "Lock-Token", taken.token()))) {
            answer.isProblem(410, "lapsed");
            assertThat(answer.get("takenAwayBy")).isEqualTo("ops: she is on holiday");
            assertThat((String) answer.get("detail")).contains("was taken away by ops: she is on holiday, and nobody");
        }
        assertThat(lee.renew(lock, taken.token()).isProblem(410, "lapsed").json())
                .doesNotContainKey("takenAwayBy"); // it was not theirs
        lee.release(lock, lee.take(lock, TAB).token());
        assertThat(kim.renew(lock, taken.token()).isProblem(410, "lapsed").json())
                .doesNotContainKey("takenAwayBy");
    }

    @Test
    void lock_stays_when_the_handler_fails_or_shows_the_form_again() {
        String token = kim.take(lock, TAB).token();
        post(kim, "/failing/" + name.id(), "lid=" + token).is(422);
        assertThat(isHeld()).isTrue();
        assertThat(post(kim, "/forms/" + name.id(), "amount=many&lid=" + token)
                        .is(200)
                        .text())
                .isEqualTo("shown again");
        assertThat(isHeld()).isTrue();
        post(kim, "/forms/" + name.id(), "amount=1&lid=" + token).is(200);
        assertThat(isHeld()).isFalse();
    }

    @Test
    void version_in_the_header_is_compared_in_any_case() {
        String token = kim.take(lock, TAB).token();
        save(kim, "Lock-Token", token, "If-Match", "\"6\"").isProblem(412, "stale-version");
        save(kim, "Lock-Token", token, "If-Match", "\"7\"").is(200);
    }

    @Test
    void token_of_another_person_or_another_lock_is_refused() {
        String token = kim.take(lock, TAB).token();
        save(lee, "Lock-Token", token).isProblem(403, "denied");
        String other = "/order/other-" + name.id();
        save(kim, "Lock-Token", kim.take(other, TAB).token()).isProblem(403, "denied");
        save(kim, "Lock-Token", token.substring(2)).isProblem(400, "bad-request");
        save(kim, "Lock-Token", token).is(200);
    }

    @Test
    void token_in_the_url_is_refused() {
        String token = kim.take(lock, TAB).token();
        post(kim, "/orders/" + name.id() + "?lid=" + token, "").isProblem(400, "bad-request");
        assertThat(isHeld()).isTrue();
    }

    @Test
    void lapsed_lock_counts_only_where_the_handler_accepts_it() throws Exception {
        String token = kim.take(lock, TAB).token();
        lapse();
        save(kim, "Lock-Token", token).isProblem(410, "lapsed");
        post(kim, "/lapsing/" + name.id(), "lid=" + token).is(200);
        post(kim, "/lapsing/" + name.id(), "lid=" + token).isProblem(410, "lapsed");

        String again = kim.take(lock, TAB).token();
        lapse();
        lee.take(lock, TAB).is(201);
        post(kim, "/lapsing/" + name.id(), "lid=" + again).isProblem(423, "held");
    }

    @Test
    void who_may_take_over_is_the_applications_policy() {
        Person.Answer taken = kim.take(lock, TAB);
        kim.takeOver(lock, taken.fence(), TAB).isProblem(403, "denied");
        Person.Answer boss =
                server.person("boss").takeOver(lock, taken.fence(), TAB).is(201);
        assertThat(save(kim, "Lock-Token", taken.token()).isProblem(423, "held").json())
                .containsEntry("owner", "boss");
        save(server.person("boss"), "Lock-Token", boss.token()).is(200);
    }

    @Test
    void page_for_people_gets_the_applications_error_page() {
        lee.take(lock, TAB);
        String dead = kim.take("/order/x" + name.id(), TAB).token();
        Person.Answer page = save(kim, "Accept", "text/html,*/*;q=0.8").is(428);
        assertThat(page.header("content-type")).startsWith("text/html");
        assertThat(page.text()).doesNotContain("lee").doesNotContain(dead);
    }

    /** As if the lock's time had passed. */
    private void lapse() throws Exception {
        try (var connection = pool.getConnection();
                var statement =
                        connection.prepareStatement("UPDATE bitjang_locks SET expires_at = acquired_at WHERE id = ?")) {
            statement.setString(1, name.id());
            assertThat(statement.executeUpdate()).isOne();
        }
    }
}
