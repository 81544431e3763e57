// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Locks;
import io.bitjang.admin.AuditEntry;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
class LocksEndpointTest {

    private static Shop shop;
    private static Shop trusting;

    @BeforeAll
    static void open() {
        shop = Shop.open();
        trusting = Shop.open("management.endpoint.locks.access=unrestricted", "bitjang.audit=true");
    }

    @AfterAll
    static void close() {
        shop.close();
        trusting.close();
    }

    @Test
    void held_locks_are_listed_without_their_lock_ids() {
        LockId id = shop.bean(LockManager.class).tryLock("listed", "1", "ann");
        HttpResponse<String> answer = shop.get("/actuator/locks?type=listed");
        assertThat(answer.statusCode()).isEqualTo(200);
        JsonNode lock = json(answer).path("locks").path(0);
        assertThat(lock.path("id").asString()).isEqualTo("1");
        assertThat(lock.path("owner").asString()).isEqualTo("ann");
        assertThat(lock.path("state").asString()).isEqualTo("held");
        assertThat(lock.path("fence").asLong()).isEqualTo(id.fence());
        assertThat(lock.propertyNames())
                .containsExactlyInAnyOrder(
                        "type", "id", "state", "owner", "fence", "acquiredAt", "expiresAt", "remainingMs", "note");
    }

    @Test
    void the_list_is_filtered() {
        LockManager manager = shop.bean(LockManager.class);
        manager.tryLock("filtered", "one", "ann");
        manager.tryLock("filtered", "two", "bob");
        manager.releaseLock(manager.tryLock("filtered", "three", "bob"));
        assertThat(ids(shop.get("/actuator/locks?type=filtered"))).containsExactly("one", "two");
        assertThat(ids(shop.get("/actuator/locks?type=filtered&owner=bob"))).containsExactly("two");
        assertThat(ids(shop.get("/actuator/locks?type=filtered&id=n"))).containsExactly("one");
        assertThat(ids(shop.get("/actuator/locks?type=filtered&state=free"))).containsExactly("three");
        assertThat(ids(shop.get("/actuator/locks?type=filtered&state=any"))).hasSize(3);
    }

    @Test
    void the_list_comes_in_pages() {
        LockManager manager = shop.bean(LockManager.class);
        for (int i = 0; i < 5; i++) {
            manager.tryLock("paged", "n" + i);
        }
        List<String> seen = new ArrayList<>();
        String next = "";
        do {
            JsonNode page = json(shop.get("/actuator/locks?type=paged&limit=2" + next));
            page.path("locks").forEach(each -> seen.add(each.path("id").asString()));
            JsonNode after = page.path("next");
            next = after.isNull() || after.isMissingNode()
                    ? null
                    : "&afterType=" + after.path("type").asString() + "&afterId="
                            + after.path("id").asString();
        } while (next != null);
        assertThat(seen).containsExactly("n0", "n1", "n2", "n3", "n4");
    }

    @Test
    void one_lock_is_found_by_a_name_with_slashes() {
        shop.bean(LockManager.class).tryLock("file", "reports/2026/q3.pdf");
        HttpResponse<String> answer = shop.get("/actuator/locks/file/reports/2026/q3.pdf");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(json(answer).path("id").asString()).isEqualTo("reports/2026/q3.pdf");
        assertThat(shop.get("/actuator/locks/file/other").statusCode()).isEqualTo(404);
    }

    @Test
    void bad_questions_are_refused_with_a_reason() {
        assertProblem(shop.get("/actuator/locks?state=nonsense"), "'nonsense': state is held, expired, free or any");
        assertProblem(shop.get("/actuator/locks?limit=0"), "1 to 1,000");
        assertProblem(shop.get("/actuator/locks?limit=1001"), "1 to 1,000");
        assertProblem(shop.get("/actuator/locks?limit=99999999999"), "limit is too large");
        assertProblem(shop.get("/actuator/locks?limit=many"), "limit must be a number, not 'many'");
        assertProblem(shop.get("/actuator/locks/only-a-type"), "type and its id");
    }

    private static void assertProblem(HttpResponse<String> answer, String detail) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(answer.headers().firstValue("content-type").orElse("")).startsWith("application/problem+json");
        JsonNode problem = JsonMapper.shared().readTree(answer.body());
        assertThat(problem.path("type").asString()).isEqualTo("urn:bitjang:bad-request");
        assertThat(problem.path("status").asInt()).isEqualTo(400);
        assertThat(problem.path("detail").asString()).contains(detail).endsWith(".");
    }

    @Test
    void releasing_is_not_possible_unless_the_operator_allows_it() {
        LockManager manager = shop.bean(LockManager.class);
        LockId id = manager.tryLock("kept", "1");
        assertThat(release(shop, "kept/1", id.fence(), "because").statusCode()).isEqualTo(405);
        assertThat(manager.checkLock(id).held()).isTrue();
    }

    @Test
    void a_lock_is_taken_away_in_the_name_of_who_is_signed_in() {
        LockManager manager = trusting.bean(LockManager.class);
        LockId id = manager.tryLock("taken", "a/b");
        JsonNode answer = json(release(trusting, "taken/a/b", id.fence(), "holder is on holiday"));
        assertThat(answer.path("released").asBoolean()).isTrue();
        assertThat(answer.path("lock").path("state").asString()).isEqualTo("free");
        AuditEntry entry = trusting.bean(Locks.class).admin().audit(1).get(0);
        assertThat(entry.by()).isEqualTo("ann");
        assertThat(entry.reason()).isEqualTo("holder is on holiday");
    }

    @Test
    void what_is_sent_does_not_make_a_line_of_the_log_of_its_own(CapturedOutput output) {
        LockManager manager = trusting.bean(LockManager.class);
        LockId id = manager.tryLock("forged", "a\nb");
        // not over HTTP: a firewall such as Spring Security's would refuse the name, but not every application has one
        LocksEndpoint.Release answer = trusting.bean(LocksEndpoint.class)
                .release(
                        SecurityContext.NONE,
                        id.fence(),
                        "because\r\n2026-01-01 ERROR forged\u0085x\u2028y\u001b[31mz",
                        "forged",
                        "a\nb");
        assertThat(answer.released()).isTrue();
        assertThat(output.getOut())
                .contains("forged/a?b (fence " + id.fence()
                        + ") was taken away by actuator: because??2026-01-01 ERROR forged?x?y?[31mz");
        // the audit trail has it as it was sent
        assertThat(trusting.bean(Locks.class).admin().audit(1).get(0).reason()).contains("\r\n");
    }

    @Test
    void a_lock_that_was_granted_anew_meanwhile_is_not_taken_away() {
        LockManager manager = trusting.bean(LockManager.class);
        LockId before = manager.tryLock("moved", "1");
        manager.releaseLock(before);
        LockId now = manager.tryLock("moved", "1");
        JsonNode answer = json(release(trusting, "moved/1", before.fence(), "because"));
        assertThat(answer.path("released").asBoolean()).isFalse();
        assertThat(answer.path("lock").path("fence").asLong()).isEqualTo(now.fence());
        assertThat(manager.checkLock(now).held()).isTrue();
    }

    @Test
    void a_release_needs_fence_and_reason() {
        LockManager manager = trusting.bean(LockManager.class);
        LockId id = manager.tryLock("careful", "1");
        assertProblem(
                trusting.post("/actuator/locks/careful/1", "{\"reason\": \"because\"}"), "expectedFence is missing");
        assertProblem(
                trusting.post("/actuator/locks/careful/1", "{\"reason\": \"because\", \"expectedFence\": \"latest\"}"),
                "expectedFence must be a number, not 'latest'");
        assertProblem(
                trusting.post("/actuator/locks/careful/1", "{\"expectedFence\": " + id.fence() + "}"),
                "reason is missing");
        assertProblem(release(trusting, "careful/1", id.fence(), " "), "reason");
        assertThat(manager.checkLock(id).held()).isTrue();
    }

    @Test
    void it_is_not_there_unless_it_is_exposed() {
        Apps.plain().run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
        Apps.plain()
                .withClassLoader(new FilteredClassLoader("none"))
                .withPropertyValues("management.endpoints.web.exposure.include=locks")
                .run(context -> assertThat(context).hasSingleBean(LocksEndpoint.class));
    }

    private static HttpResponse<String> release(Shop where, String path, long fence, String reason) {
        return where.post(
                "/actuator/locks/" + path, "{\"expectedFence\": " + fence + ", \"reason\": \"" + reason + "\"}");
    }

    private static List<String> ids(HttpResponse<String> answer) {
        List<String> ids = new ArrayList<>();
        json(answer).path("locks").forEach(each -> ids.add(each.path("id").asString()));
        return ids;
    }

    private static JsonNode json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonMapper.shared().readTree(answer.body());
    }
}
