// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;

/** Every row of the table of requests, with what is answered. */
class EditLockHttpTest {

    private static final String TAB = "tab-0001";
    private static final String OTHER_TAB = "tab-0002";
    private static final Map<LockName, String> VERSIONS = new ConcurrentHashMap<>();
    private static HikariDataSource pool;
    private static EditServer server;

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private final String lock = "/order/" + name.id();
    private final Person kim = server.person("kim");
    private final Person lee = server.person("lee");

    static class Versions {

        @Bean
        EditLockVersions versions() {
            return name -> Optional.ofNullable(VERSIONS.get(name));
        }
    }

    @BeforeAll
    static void start() {
        pool = TestDatabases.h2().pool(5);
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"), Versions.class);
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    private LockData row() {
        return server.locks().admin().find(name).orElseThrow();
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

    // GET

    @Test
    void free_lock_is_shown_as_free_and_looking_changes_nothing() {
        Person.Answer free = kim.get(lock).is(200);
        assertThat(free.json())
                .containsOnlyKeys(
                        "type", "id", "held", "mine", "owner", "since", "expiresInMs", "fence", "note", "mayTakeOver")
                .containsEntry("type", "order")
                .containsEntry("id", name.id())
                .containsEntry("held", false)
                .containsEntry("mine", false)
                .containsEntry("owner", null)
                .containsEntry("fence", null);
        assertThat(free.header("cache-control")).contains("no-store");
        assertThat(server.locks().admin().find(name)).isEmpty();
    }

    @Test
    void held_lock_is_shown_with_its_holder_but_not_its_tab() {
        Person.Answer taken =
                kim.send("PUT", lock, "{\"clientId\":\"" + TAB + "\",\"note\":\"correcting <the> \\\"빗장\\\"\"}");
        Person.Answer seen = lee.get(lock).is(200);
        assertThat(seen.json())
                .containsEntry("held", true)
                .containsEntry("mine", false)
                .containsEntry("owner", "kim")
                .containsEntry("note", "correcting <the> \"빗장\"");
        assertThat(seen.fence()).isEqualTo(taken.fence());
        assertThat(((Number) seen.get("expiresInMs")).longValue()).isBetween(170_000L, 180_000L);
        assertThat(Instant.parse((String) seen.get("since"))).isEqualTo(row().acquiredAt());
        assertThat(seen.text()).doesNotContain(TAB).doesNotContain("tab ");
        assertThat(kim.get(lock).get("mine")).isEqualTo(true);
        assertThat(row().note()).endsWith(" (tab " + TAB + ")");
    }

    @Test
    void types_that_are_not_named_are_out_of_reach() {
        server.locks().manager().tryLock("lock", name.id(), "a job");
        String lease = "/lock/" + name.id();
        assertThat(kim.get(lease).isProblem(403, "denied").text()).doesNotContain("a job");
        kim.take(lease, TAB).isProblem(403, "denied");
        kim.takeOver(lease, 1, TAB).isProblem(403, "denied");
        assertThat(server.locks()
                        .admin()
                        .find(LockName.of(name.id()))
                        .orElseThrow()
                        .owner())
                .isEqualTo("a job");
    }

    // PUT

    @Test
    void free_lock_is_taken() {
        Person.Answer taken = kim.take(lock, TAB).is(201);
        assertThat(taken.json())
                .containsOnlyKeys("token", "fence", "expiresInMs", "renewInMs", "owner", "resumed")
                .containsEntry("owner", "kim")
                .containsEntry("resumed", false)
                .containsEntry("expiresInMs", 180_000)
                .containsEntry("renewInMs", 60_000);
        assertThat(taken.header("cache-control")).contains("no-store");
        assertThat(new LockId(taken.token()).name()).isEqualTo(name);
        assertThat(row()).matches(LockData::held).extracting(LockData::owner).isEqualTo("kim");
    }

    @Test
    void same_tab_resumes_with_a_new_token_and_the_old_one_ends() {
        Person.Answer taken = kim.take(lock, TAB);
        Person.Answer resumed = kim.take(lock, TAB).is(200);
        assertThat(resumed.get("resumed")).isEqualTo(true);
        assertThat(resumed.fence()).isGreaterThan(taken.fence());
        kim.renew(lock, taken.token()).isProblem(423, "held");
        kim.renew(lock, resumed.token()).is(200);
    }

    @Test
    void token_that_is_still_valid_is_kept() {
        Person.Answer taken = kim.take(lock, TAB);
        Person.Answer again = kim.take(lock, TAB, "Lock-Token", taken.token()).is(200);
        assertThat(again.token()).isEqualTo(taken.token());
        assertThat(again.fence()).isEqualTo(taken.fence());
        kim.take(lock, OTHER_TAB, "Lock-Token", taken.token()).isProblem(423, "held");
    }

    @Test
    void dead_token_does_not_stand_in_the_way() {
        Person.Answer taken = kim.take(lock, TAB);
        kim.release(lock, taken.token()).is(204);
        assertThat(kim.take(lock, TAB, "Lock-Token", taken.token()).is(201).token())
                .isNotEqualTo(taken.token());
    }

    @Test
    void someone_elses_lock_is_refused_and_its_holder_told() {
        Person.Answer taken = kim.take(lock, TAB);
        Person.Answer refused = lee.take(lock, TAB).isProblem(423, "held");
        assertThat(refused.json())
                .containsEntry("owner", "kim")
                .containsEntry("mine", false)
                .containsEntry("note", null)
                .containsEntry("since", row().acquiredAt().toString());
        assertThat(refused.fence()).isEqualTo(taken.fence());
        assertThat((String) refused.get("detail"))
                .startsWith("kim has been editing order ")
                .endsWith(" for less than a minute.");
        assertThat(Integer.parseInt(refused.header("retry-after"))).isBetween(170, 180);
        assertThat(refused.text()).doesNotContain(TAB);
    }

    @Test
    void second_tab_of_the_same_person_is_told_that_it_is_their_own() {
        kim.take(lock, TAB);
        assertThat(kim.take(lock, OTHER_TAB).isProblem(423, "held").json())
                .containsEntry("mine", true)
                .containsEntry("owner", "kim");
    }

    @Test
    void old_copy_is_refused_and_the_lock_not_kept() {
        VERSIONS.put(name, "\"2\"");
        kim.take(lock, TAB, "If-Match", "\"1\"").isProblem(412, "stale-version");
        assertThat(row().held()).isFalse();
        kim.take(lock, TAB, "If-Match", "W/\"2\"").isProblem(412, "stale-version");
        String token = kim.take(lock, TAB, "If-Match", "\"1\", \"2\"").is(201).token();
        kim.take(lock, TAB, "If-Match", "\"1\"").isProblem(412, "stale-version");
        kim.renew(lock, token).is(200);
    }

    @Test
    void what_is_not_there_has_no_version() {
        kim.take(lock, TAB, "If-Match", "*").isProblem(404, "not-found");
        assertThat(row().held()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "null",
                "{",
                "",
                "{\"clientId\":7}",
                "{\"clientId\":\"short\"}",
                "{\"clientId\":\"with blanks\"}",
                "{\"clientId\":\"tab-0001\",\"note\":{}}",
                "{\"clientId\":\"tab-0001\",\"note\":\"a\\u0000b\"}",
                "{\"clientId\":\"tab-0001\",\"note\":\"\\ud800\"}"
            })
    void body_that_makes_no_sense_is_refused(String body) {
        kim.send("PUT", lock, body).isProblem(400, "bad-request");
        assertThat(server.locks().admin().find(name)).isEmpty();
    }

    @Test
    void note_has_a_limit_and_its_full_length_can_be_stored() {
        kim.send("PUT", lock, "{\"clientId\":\"" + TAB + "\",\"note\":\"" + "n".repeat(901) + "\"}")
                .isProblem(400, "bad-request");
        kim.send("PUT", lock, "{\"clientId\":\"" + "t".repeat(64) + "\",\"note\":\"" + "n".repeat(900) + "\"}")
                .is(201);
    }

    @Test
    void only_json_is_taken() {
        kim.take(lock, TAB, "Content-Type", "text/plain").isProblem(415, "not-json");
        kim.take(lock, TAB, "Content-Type", "application/x-www-form-urlencoded").isProblem(415, "not-json");
    }

    // PATCH

    @Test
    void renewal_makes_it_last_for_another_lease() {
        Person.Answer taken = kim.take(lock, TAB);
        server.locks().manager().leave(new LockId(taken.token()), Duration.ofSeconds(30));
        Person.Answer renewed = kim.renew(lock, taken.token()).is(200);
        assertThat(renewed.json())
                .containsOnlyKeys("expiresInMs", "renewInMs", "fence", "owner")
                .containsEntry("owner", "kim")
                .containsEntry("expiresInMs", 180_000)
                .containsEntry("renewInMs", 60_000);
        assertThat(renewed.fence()).isEqualTo(taken.fence());
        assertThat(row().remaining()).isGreaterThan(Duration.ofSeconds(170));
    }

    @Test
    void renewal_of_a_lapsed_lock_that_is_free_is_gone() throws Exception {
        Person.Answer taken = kim.take(lock, TAB);
        lapse();
        kim.renew(lock, taken.token()).isProblem(410, "lapsed");
    }

    @Test
    void renewal_of_a_lock_that_someone_else_has_now_says_who() throws Exception {
        Person.Answer taken = kim.take(lock, TAB);
        lapse();
        lee.take(lock, TAB).is(201);
        assertThat(kim.renew(lock, taken.token()).isProblem(423, "held").json()).containsEntry("owner", "lee");
    }

    @Test
    void renewal_needs_a_token() {
        kim.take(lock, TAB);
        kim.send("PATCH", lock, null).isProblem(428, "lock-required");
    }

    // DELETE

    @Test
    void lock_is_given_back_and_once_more_does_no_harm() {
        Person.Answer taken = kim.take(lock, TAB);
        Person.Answer released = kim.release(lock, taken.token()).is(204);
        assertThat(released.header("cache-control")).contains("no-store");
        assertThat(released.text()).isEmpty();
        assertThat(row().held()).isFalse();
        lee.take(lock, TAB).is(201);
        kim.release(lock, taken.token()).is(204);
        assertThat(row()).matches(LockData::held).extracting(LockData::owner).isEqualTo("lee");
    }

    // POST leave

    @Test
    void page_that_is_left_cuts_the_lease_and_a_reload_finds_it() {
        Person.Answer taken = kim.take(lock, TAB);
        kim.leave(lock, taken.token()).is(204);
        assertThat(row().remaining()).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
        kim.take(lock, TAB).is(200);
        assertThat(row().remaining()).isGreaterThan(Duration.ofSeconds(170));
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain;charset=UTF-8", "application/json", "application/x-www-form-urlencoded"})
    void beacon_brings_the_token_in_its_body(String type) {
        Person.Answer taken = kim.take(lock, TAB);
        String body = type.endsWith("urlencoded") ? "lid=" + taken.token() : "{\"token\": \"" + taken.token() + "\"}";
        kim.send("POST", lock + "/leave", body, "Content-Type", type).is(204);
        assertThat(row().remaining()).isLessThanOrEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void leaving_twice_does_no_harm_and_without_a_token_is_refused() {
        Person.Answer taken = kim.take(lock, TAB);
        kim.release(lock, taken.token());
        kim.leave(lock, taken.token()).is(204);
        kim.send("POST", lock + "/leave", "{}").isProblem(400, "bad-request");
        kim.send("POST", lock + "/leave", null).isProblem(400, "bad-request");
    }

    // POST takeover

    @Test
    void one_takes_over_from_oneself() {
        Person.Answer taken = kim.take(lock, TAB);
        Person.Answer over = kim.takeOver(lock, taken.fence(), OTHER_TAB).is(201);
        assertThat(over.json())
                .containsOnlyKeys("token", "fence", "expiresInMs", "renewInMs", "owner", "resumed")
                .containsEntry("resumed", false);
        assertThat(over.fence()).isGreaterThan(taken.fence());
        kim.renew(lock, taken.token()).isProblem(423, "held");
        kim.take(lock, OTHER_TAB).is(200);
    }

    @Test
    void nobody_takes_over_from_someone_else_unless_the_policy_says_so() {
        Person.Answer taken = kim.take(lock, TAB);
        lee.takeOver(lock, taken.fence(), TAB).isProblem(403, "denied");
        kim.renew(lock, taken.token()).is(200);
    }

    @Test
    void holder_that_has_changed_is_not_taken_over() {
        Person.Answer taken = kim.take(lock, TAB);
        kim.take(lock, TAB);
        kim.takeOver(lock, taken.fence(), OTHER_TAB).isProblem(412, "fence-moved");
        LockName free = LockName.of("order", "free " + name.id());
        kim.takeOver("/order/free%20" + name.id(), 1, OTHER_TAB).isProblem(412, "fence-moved");
        assertThat(server.locks().admin().find(free)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"expectedFence\":1}",
                "{\"expectedFence\":\"1\",\"reason\":\"r\"}",
                "{\"expectedFence\":1.5,\"reason\":\"r\"}",
                "{\"expectedFence\":1,\"reason\":\" \"}"
            })
    void take_over_needs_a_fence_and_a_reason(String body) {
        kim.send("POST", lock + "/takeover", body).isProblem(400, "bad-request");
    }

    // names

    @ParameterizedTest
    @ValueSource(strings = {"빗장 42", "ÅÄÖ", "😀", "a+b&c=d?e#f", "İi", "'\"<>"})
    void names_are_any_text(String id) {
        String path = "/order/" + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
        Person.Answer taken = kim.take(path, TAB).is(201);
        assertThat(kim.get(path).json()).containsEntry("id", id).containsEntry("held", true);
        assertThat(new LockId(taken.token()).name().id()).isEqualTo(id);
        kim.release(path, taken.token()).is(204);
    }

    @Test
    void names_that_are_none_are_refused() {
        kim.get("/order/%20").isProblem(400, "bad-request");
        kim.take("/order/" + "x".repeat(256), TAB).isProblem(400, "bad-request");
        kim.take("/order/" + "x".repeat(255), TAB).is(201);
        for (String odd : new String[] {"/order/a;b=c", "/order/a%3Bb", "/order/a%00b", "/order/%FF", "/order/a%2Fb"}) {
            assertThat(kim.get(odd).status()).as(odd).isEqualTo(400);
        }
    }

    @Test
    void other_methods_are_refused() {
        Person.Answer refused = kim.send("POST", lock, "{}").isProblem(405, "method");
        assertThat(refused.header("allow")).isEqualTo("GET, PUT, PATCH, DELETE");
        kim.get(lock + "/leave").isProblem(405, "method");
    }
}
