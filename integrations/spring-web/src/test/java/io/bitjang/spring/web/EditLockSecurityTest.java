// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.testkit.TestDatabases;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What someone with bad intentions gets. */
class EditLockSecurityTest {

    private static final String TAB = "tab-0001";
    private static HikariDataSource pool;
    private static EditServer server;

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private final String lock = "/order/" + name.id();
    private final Person kim = server.person("kim");
    private final Person lee = server.person("lee");
    private Person.Answer taken;
    private LockData before;

    @BeforeAll
    static void start() {
        pool = TestDatabases.h2().pool(5);
        server = new EditServer(pool, Locks.builder(pool), EditLockSettings.ofTypes("order"));
    }

    @AfterAll
    static void stop() {
        server.close();
        pool.close();
    }

    @BeforeEach
    void kim_has_it() {
        taken = kim.take(lock, TAB).is(201);
        before = row();
    }

    private LockData row() {
        return server.locks().admin().find(name).orElseThrow();
    }

    private void nothingHasChanged() {
        LockData now = row();
        assertThat(now.held()).isTrue();
        assertThat(now.fence()).isEqualTo(before.fence());
        assertThat(now.expiresAt()).isEqualTo(before.expiresAt());
    }

    @Test
    void without_sign_in_nothing_changes_and_no_holder_is_shown() {
        Person anybody = server.anybody();
        for (Person.Answer answer : List.of(
                anybody.get(lock),
                anybody.get(lock + "/leave"),
                anybody.take(lock, TAB),
                anybody.take(lock, TAB, "Lock-Token", taken.token()),
                anybody.send("PUT", lock, "no json", "Content-Type", "text/plain"),
                anybody.renew(lock, taken.token()),
                anybody.release(lock, taken.token()),
                anybody.leave(lock, taken.token()),
                anybody.takeOver(lock, taken.fence(), TAB),
                anybody.get("/events"))) {
            answer.isProblem(401, "sign-in");
            assertThat(answer.json()).containsOnlyKeys("type", "title", "status", "detail");
            assertThat(answer.text()).doesNotContain("kim");
        }
        nothingHasChanged();
    }

    @Test
    void token_of_another_person_is_refused() {
        lee.renew(lock, taken.token()).isProblem(403, "denied");
        lee.release(lock, taken.token()).isProblem(403, "denied");
        lee.leave(lock, taken.token()).isProblem(403, "denied");
        lee.take(lock, TAB, "Lock-Token", taken.token()).isProblem(403, "denied");
        nothingHasChanged();
    }

    @Test
    void token_of_another_lock_is_refused() {
        String other = lee.take("/order/other-" + name.id(), TAB).token();
        lee.renew(lock, other).isProblem(403, "denied");
        lee.release(lock, other).isProblem(403, "denied");
        lee.leave(lock, other).isProblem(403, "denied");
        lee.take(lock, TAB, "Lock-Token", other).isProblem(403, "denied");
        nothingHasChanged();
    }

    @Test
    void token_that_is_none_is_refused_and_not_repeated() {
        for (String none : new String[] {"x", taken.token().substring(1), taken.token() + "A", "'; DROP TABLE x"}) {
            for (Person.Answer answer : List.of(
                    kim.renew(lock, none),
                    kim.release(lock, none),
                    kim.leave(lock, none),
                    kim.take(lock, TAB, "Lock-Token", none))) {
                assertThat(answer.isProblem(400, "bad-request").text()).doesNotContain(none + "\"");
            }
        }
        nothingHasChanged();
    }

    /** Well-formed, with the right name and fence, but with other random bits. */
    private String guessed() {
        byte[] bytes = Base64.getUrlDecoder().decode(taken.token());
        bytes[12] ^= 1; // inside the random part
        CRC32 check = new CRC32();
        check.update(bytes, 0, bytes.length - Integer.BYTES);
        ByteBuffer.wrap(bytes).putInt(bytes.length - Integer.BYTES, (int) check.getValue());
        String guess = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        assertThat(new LockId(guess).name()).isEqualTo(name);
        return guess;
    }

    @Test
    void guessed_token_is_worth_nothing() {
        lee.renew(lock, guessed()).isProblem(423, "held");
        kim.renew(lock, guessed()).isProblem(423, "held");
        kim.release(lock, guessed()).is(204); // as any dead one
        kim.leave(lock, guessed()).is(204);
        nothingHasChanged();
        kim.release(lock, taken.token()).is(204);
        kim.renew(lock, guessed()).isProblem(410, "lapsed");
    }

    @Test
    void client_id_of_another_person_is_worth_nothing() {
        lee.take(lock, TAB).isProblem(423, "held");
        nothingHasChanged();
    }

    @ParameterizedTest
    @CsvSource({
        "Sec-Fetch-Site, cross-site",
        "Sec-Fetch-Site, same-site",
        "Origin, https://evil.example",
        "Origin, null",
        "Origin, https://localhost",
        "Origin, http://localhost:1",
        "Origin, not an origin"
    })
    void what_a_page_of_another_site_sends_is_refused(String header, String value) {
        for (Person.Answer answer : List.of(
                kim.take(lock, TAB, header, value),
                kim.send("PATCH", lock, null, "Lock-Token", taken.token(), header, value),
                kim.send("DELETE", lock, null, "Lock-Token", taken.token(), header, value),
                kim.send("POST", lock + "/leave", "{\"token\":\"" + taken.token() + "\"}", header, value),
                kim.send(
                        "POST",
                        lock + "/takeover",
                        "{\"expectedFence\":" + taken.fence() + ",\"reason\":\"r\"}",
                        header,
                        value))) {
            answer.isProblem(403, "cross-site");
        }
        nothingHasChanged();
        kim.get(lock).is(200);
    }

    @Test
    void what_a_page_of_this_site_sends_is_taken() {
        String origin = server.uri("").toString();
        kim.send("PATCH", lock, null, "Lock-Token", taken.token(), "Origin", origin)
                .is(200);
        kim.send("PATCH", lock, null, "Lock-Token", taken.token(), "Sec-Fetch-Site", "same-origin")
                .is(200);
    }

    @Test
    void security_frameworks_own_token_is_required_too() {
        Person.Answer refused = Person.exchange(kim.request(lock, "Lock-Token", taken.token(), "X-XSRF-TOKEN", "wrong")
                .method("PATCH", BodyPublishers.noBody())
                .build());
        refused.is(403);
        nothingHasChanged();
    }

    @Test
    void version_that_nobody_can_check_is_refused() {
        kim.take(lock, TAB, "If-Match", "\"1\"").isProblem(501, "no-versions");
        nothingHasChanged();
    }

    @Test
    void token_in_a_url_is_refused() {
        kim.send("POST", lock + "/leave?lid=" + taken.token(), "{}").isProblem(400, "bad-request");
        kim.send("PATCH", lock + "?lid=" + taken.token(), null).isProblem(400, "bad-request");
        nothingHasChanged();
    }

    @Test
    void token_is_in_its_holders_own_answer_and_nowhere_else() {
        String secret = taken.token();
        for (Person.Answer answer : List.of(
                kim.get(lock),
                lee.get(lock),
                lee.take(lock, TAB),
                kim.take(lock, "tab-0002"),
                kim.renew(lock, secret),
                lee.renew(lock, secret),
                lee.takeOver(lock, taken.fence(), TAB),
                kim.leave(lock, secret),
                kim.release(lock, secret))) {
            assertThat(answer.text() + answer.headers()).doesNotContain(secret);
        }
        assertThat(taken.headers().toString()).doesNotContain(secret);
    }

    @Test
    void no_request_makes_a_session() {
        for (Person.Answer answer :
                List.of(kim.get(lock), kim.renew(lock, taken.token()), kim.take(lock, TAB), lee.take(lock, TAB))) {
            assertThat(answer.header("set-cookie")).doesNotContain("JSESSIONID");
        }
    }
}
