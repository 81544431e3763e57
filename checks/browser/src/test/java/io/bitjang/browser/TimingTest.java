// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the script believes about time, seen from inside the page. */
class TimingTest extends BrowserTest {
    /**
     * Notes when each request is sent and each state is reached, with Save on or off; answers come later by {@code window.late}
     * milliseconds, or when it has happened; and the wall clock goes ahead by {@code window.slept}, as it does while a computer sleeps.
     */
    private static final String WATCHED = """
            window.sent = [];
            window.states = [];
            window.slept = 0;
            const { fetch, Date: { now } } = window;
            Date.now = () => now() + window.slept;
            window.fetch = async (url, options) => {
              const request = { method: options.method, at: performance.now() };
              window.sent.push(request);
              const answer = await fetch(url, options);
              const late = window.late?.[options.method] ?? 0;
              await (late > 0 ? new Promise(resolve => setTimeout(resolve, late)) : late);
              request.answeredAt = performance.now();
              return answer;
            };
            document.addEventListener('bitjang:state', (event) => window.states.push(
              event.detail.state + (document.querySelector('form button:not([type])').disabled ? '' : ', Save on')));""";

    @Test
    void lock_is_renewed_after_a_third_of_the_lease() {
        Page kim = watched("");
        awaitState(kim, "held");
        kim.waitForFunction("sent.filter(each => each.method === 'PATCH').length >= 2");
        List<Double> times = numbers(kim, "sent.map(each => each.at)");
        for (int i = 1; i < 3; i++) {
            // a third of 12 s; what is seen here is a little later than what the page counts from, on a busy machine by
            // more
            assertThat(times.get(i) - times.get(i - 1)).isBetween(3_800.0, 12_000.0);
        }
        assertThat(kim.evaluate("states")).isEqualTo(List.of("acquiring", "held, Save on"));
    }

    @Test
    void lock_is_renewed_also_if_the_page_was_woken_while_it_was_taken_or_a_take_over_came_too_late() {
        BrowserContext context = profileOf("kim");
        context.addInitScript(WATCHED + "window.late = { PUT: new Promise((answer) => { window.answer = answer; }) };");
        // a lease that outlives the test: a page that does not renew it by its timer would not renew it at all
        context.route(
                "**/bitjang/edit-locks/note/*",
                route -> route.fulfill(
                        new Route.FulfillOptions()
                                .setContentType("application/json")
                                .setBody(
                                        "{\"token\":\"t\",\"owner\":\"kim\",\"fence\":1,\"expiresInMs\":90000,\"renewInMs\":1000}")));
        Page kim = edit(context, stage.newNote("text"));
        kim.waitForFunction("sent.length > 0");
        wake(kim); // asks for the lock once more, when the answer is there
        kim.evaluate("() => answer()");
        awaitState(kim, "held");
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  await editLock(document.querySelector('form')).takeOver('it is held by then');
                }""");
        kim.waitForFunction("sent.some(each => each.method === 'PATCH')");
        assertThat(kim.evaluate("states")).isEqualTo(List.of("acquiring", "held, Save on"));
    }

    @Test
    void lease_counts_from_when_the_request_was_sent() {
        Page kim = watched("window.late = { PUT: 3000 };");
        awaitState(kim, "held");
        kim.waitForFunction("sent.some(each => each.method === 'PATCH')");
        List<Double> times = numbers(kim, "[sent[0].answeredAt, sent[1].at]");
        assertThat(times.get(1) - times.get(0))
                .isLessThan(3_900); // 1000 are left of the third; a third of the lease after the answer would be 4000
    }

    @Test
    void answer_that_comes_after_the_lease_is_worth_nothing() {
        String note = stage.newNote("text");
        Page kim = watched("window.late = { PUT: new Promise((answer) => { window.answer = answer; }) };", note);
        kim.waitForCondition(() -> lock(note).isPresent());
        stage.lapse(note);
        kim.evaluate("() => { slept += 13_000; answer(); }");
        awaitState(kim, "lost");
        assertThat(kim.evaluate("states")).isEqualTo(List.of("acquiring", "uncertain", "lost"));
    }

    @Test
    void page_that_wakes_up_confirms_the_lock_before_save_is_on_again() {
        Page kim = watched("");
        awaitState(kim, "held");
        kim.evaluate("() => { slept += 60_000; document.dispatchEvent(new Event('visibilitychange')); }");
        kim.waitForFunction("states.length >= 4");
        assertThat(kim.evaluate("states"))
                .isEqualTo(List.of("acquiring", "held, Save on", "uncertain", "held, Save on"));
    }

    @Test
    void save_with_an_old_confirmation_renews_first() {
        Page kim = watched("");
        awaitState(kim, "held");
        text(kim).fill("after");
        callsSinceLastLook();
        kim.evaluate("() => { slept += 9_000; document.querySelector('form button:not([type])').click(); }");
        kim.waitForURL("**/saved");
        assertThat(callsSinceLastLook()).contains("PATCH");
    }

    @Test
    void page_that_was_kept_for_the_back_button_confirms_the_lock_when_it_is_shown_again() {
        Page kim = watched("");
        awaitState(kim, "held");
        callsSinceLastLook();
        kim.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
        awaitState(kim, "uncertain");
        assertThat(save(kim)).isDisabled();
        kim.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
        awaitState(kim, "held");
        assertThat(callsSinceLastLook()).startsWith("POST/leave", "PATCH");
    }

    private Page watched(String more) {
        return watched(more, stage.newNote("text"));
    }

    private Page watched(String more, String note) {
        BrowserContext context = profileOf("kim");
        context.addInitScript(WATCHED + more);
        return edit(context, note);
    }

    private static List<Double> numbers(Page page, String expression) {
        return ((List<?>) page.evaluate(expression))
                .stream().map(number -> ((Number) number).doubleValue()).toList();
    }
}
