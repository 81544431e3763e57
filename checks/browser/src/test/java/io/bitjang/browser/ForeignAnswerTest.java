// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Answers that no renewal hopes for: of a gateway instead of the server, or a final no of the server. */
class ForeignAnswerTest extends BrowserTest {
    private static final String LOCK = "**/bitjang/edit-locks/note/*";
    private static final int WATCHED_MS = 700;

    /** What a gateway sends when its own session has ended. */
    private static Route.FulfillOptions page(String type, String body) {
        return new Route.FulfillOptions().setStatus(200).setContentType(type).setBody(body);
    }

    @ParameterizedTest
    @CsvSource({"text/html, <h1>Sign in</h1>", "application/json, {}", "application/json, null"})
    void answer_that_is_not_the_locks_confirms_nothing_when_the_lock_is_taken(String type, String body) {
        BrowserContext context = profileOf("kim");
        context.route(LOCK, route -> route.fulfill(page(type, body)));
        Page kim = edit(context, stage.newNote("text"));
        assertThat(status(kim)).containsText("signed out");
        awaitState(kim, "viewing");
        assertReadOnly(kim);
        assertThat(action(kim, "reload")).isVisible();
        assertFewCalls(kim);
    }

    @ParameterizedTest
    @CsvSource({
        "text/html, <h1>Sign in</h1>",
        "application/json, {}",
        "application/json, '{\"expiresInMs\":\"soon\",\"renewInMs\":0}'"
    })
    void answer_that_is_not_the_locks_confirms_nothing_when_the_lock_is_renewed(String type, String body) {
        Page kim = edit(profileOf("kim"), stage.newNote("text"));
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        kim.route(LOCK, route -> route.fulfill(page(type, body)));
        wake(kim);
        awaitState(kim, "uncertain");
        assertThat(status(kim)).containsText("signed out");
        assertThat(save(kim)).isDisabled();
        assertFewCalls(kim);
        assertThat(text(kim)).hasValue("an hour of work");

        kim.unroute(LOCK); // signed in again
        wake(kim);
        assertThat(status(kim)).not().containsText("signed out");
    }

    @Test
    void pause_that_is_no_number_is_a_long_one() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        BrowserContext context = profileOf("lee");
        context.route(
                LOCK,
                route -> route.fulfill(
                        route.request().method().equals("PUT")
                                ? problem(423, "held")
                                : page("application/json", "{\"held\":true}")));
        awaitState(edit(context, note), "held-by-other");
        callsSinceLastLook();
        kim.waitForTimeout(WATCHED_MS);
        assertThat(callsSinceLastLook()).doesNotContain("GET", "PUT");
    }

    @Test
    void renewal_is_never_asked_for_at_once_whatever_the_server_says() {
        BrowserContext context = profileOf("kim");
        context.route(
                LOCK,
                route -> route.fulfill(page(
                        "application/json",
                        "{\"token\":\"t\",\"owner\":\"kim\",\"fence\":1,\"expiresInMs\":60000,\"renewInMs\":0}")));
        Page kim = edit(context, stage.newNote("text"));
        awaitState(kim, "held");
        assertFewCalls(kim);
    }

    @ParameterizedTest
    @CsvSource({"400, bad-request, does not accept your edit lock", "403, denied, may no longer edit"})
    void renewal_that_the_server_refuses_is_a_lost_lock(int status, String type, String told) {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        kim.route(LOCK, route -> route.fulfill(problem(status, type)));
        wake(kim);
        awaitState(kim, "lost");
        assertThat(status(kim)).containsText(told);
        assertReadOnly(kim);
        assertThat(text(kim)).hasValue("an hour of work");
        assertThat(action(kim, "reload")).isVisible();
    }

    @ParameterizedTest
    @CsvSource({"en, too many things at once", "ko, 너무 많습니다"})
    void who_edits_too_many_things_is_told_so_and_not_kept_waiting(String language, String told) {
        BrowserContext context = profileOf("kim");
        context.route(LOCK, route -> route.fulfill(problem(429, "too-many-locks")));
        Page kim = edit(context, stage.newNote("text"), "?lang=" + language);
        assertThat(status(kim)).containsText(told);
        awaitState(kim, "viewing");
        assertReadOnly(kim);
        assertThat(action(kim, "reload")).isVisible();
        assertFewCalls(kim);
    }

    @Test
    void refusal_that_is_not_the_locks_may_pass() {
        Page kim = edit(profileOf("kim"), stage.newNote("text"));
        awaitState(kim, "held");
        kim.route(LOCK, route -> route.fulfill(new Route.FulfillOptions().setStatus(403)));
        wake(kim);
        awaitState(kim, "uncertain");
        kim.unroute(LOCK);
        awaitState(kim, "held");
    }

    private void assertFewCalls(Page page) {
        long began = System.nanoTime();
        callsSinceLastLook();
        page.waitForTimeout(WATCHED_MS);
        List<String> calls = callsSinceLastLook();
        long watched = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began); // longer on a busy machine
        // one every half a second, and what may have been on its way when it began
        assertThat(calls).hasSizeLessThanOrEqualTo((int) watched / 500 + 2);
    }
}
