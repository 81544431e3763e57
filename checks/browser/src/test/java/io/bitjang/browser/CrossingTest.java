// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import io.bitjang.LockName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests that cross on their way: what the page believes is what the server has done last. */
class CrossingTest extends BrowserTest {
    /**
     * Requests come to the server, and answers to the page, when the gate has opened that the test has put into {@code slow} and
     * {@code late}; and a renewal is said to be good for what is in {@code granted}.
     */
    private static final String CROSSING = """
            window.slow = {};
            window.late = {};
            const { fetch } = window;
            window.gate = () => {
              let open;
              return Object.assign(new Promise((opened) => (open = opened)), { open });
            };
            window.fetch = async (url, options) => {
              const name = /leave$/.test(url) ? 'leave' : options.method;
              await window.slow[name];
              const answer = await fetch(url, { ...options, signal: undefined });
              await window.late[name];
              if (!window.granted || name !== 'PATCH' || answer.status !== 200) return answer;
              return Response.json({ ...(await answer.json()), ...window.granted });
            };
            window.leaveAndReturn = () => {
              dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
              document.dispatchEvent(new Event('visibilitychange'));
              dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
            };
            """;

    /** The address of a lock: taking, renewing and giving it back. */
    private static final String LOCK = "**/bitjang/edit-locks/note/*";

    @Test
    void who_comes_back_renews_after_the_server_has_heard_of_the_leaving() {
        Page kim = crossing();
        kim.evaluate("() => { slow.leave = gate(); leaveAndReturn(); }");
        awaitState(kim, "uncertain");
        kim.evaluate("slow.leave.open()");
        awaitState(kim, "held");
        assertThat(callsSinceLastLook()).startsWith("POST/leave", "PATCH");
    }

    @Test
    void who_comes_back_does_not_wait_for_ever_and_renews_again_if_the_leaving_came_late() {
        Page kim = crossing();
        kim.evaluate(
                "() => { granted = { expiresInMs: 60_000, renewInMs: 60_000 }; slow.leave = gate(); leaveAndReturn(); }");
        awaitState(kim, "held"); // after three seconds
        assertThat(callsSinceLastLook()).containsExactly("PATCH");
        kim.waitForResponse(
                answer -> answer.request().method().equals("PATCH"), () -> kim.evaluate("slow.leave.open()"));
        assertThat(callsSinceLastLook()).containsExactly("POST/leave", "PATCH");
    }

    @Test
    void renewal_from_before_the_leaving_does_not_count() {
        Page kim = crossing();
        kim.waitForResponse(answer -> answer.request().method().equals("PATCH"), () -> kim.evaluate("""
                        () => {
                          late.PATCH = gate();
                          document.dispatchEvent(new Event('visibilitychange'));
                        }"""));
        kim.evaluate("leaveAndReturn()");
        awaitState(kim, "uncertain");
        kim.evaluate("late.PATCH.open()");
        awaitState(kim, "held");
        assertThat(callsSinceLastLook()).startsWith("PATCH", "POST/leave", "PATCH");
    }

    @Test
    void renewal_that_is_answered_after_the_save_says_nothing() {
        Page kim = crossing();
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  const form = document.querySelector('form');
                  const lock = editLock(form);
                  slow.PATCH = gate();
                  const renewal = lock.renew();
                  await fetch(`/bitjang/edit-locks/${form.dataset.bitjangEditLock}`, { method: 'DELETE', headers: {
                    'Lock-Token': lock.token, 'X-CSRF-TOKEN': document.querySelector('meta[name=_csrf]').content } });
                  lock.saved();
                  slow.PATCH.open();
                  await renewal;
                }""");
        kim.waitForCondition(() -> answers().contains(410));
        awaitState(kim, "viewing");
    }

    @Test
    void renewal_that_is_granted_before_the_save_brings_nothing_back() {
        Page kim = crossing();
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  const lock = editLock(document.querySelector('form'));
                  late.PATCH = gate();
                  const renewal = lock.renew();
                  lock.saved();
                  late.PATCH.open();
                  await renewal;
                }""");
        awaitState(kim, "viewing");
        assertReadOnly(kim);
    }

    @Test
    void save_by_a_script_is_not_crossed_by_a_renewal() {
        savedByScript("form");
    }

    @Test
    void save_by_a_script_that_hears_of_it_later_is_not_crossed_by_a_renewal() {
        savedByScript("document");
    }

    private void savedByScript(String listener) {
        Page kim = crossing();
        kim.evaluate("""
                async (listener) => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  const form = document.querySelector('form');
                  const lock = editLock(form);
                  granted = { expiresInMs: 20_000, renewInMs: 500 };
                  (listener === 'form' ? form : document).addEventListener('submit', async (event) => {
                    event.preventDefault();
                    await fetch(`/bitjang/edit-locks/${form.dataset.bitjangEditLock}`, { method: 'DELETE', headers: {
                      'Lock-Token': lock.token, 'X-CSRF-TOKEN': document.querySelector('meta[name=_csrf]').content } });
                    await new Promise((over) => setTimeout(over, 1_200)); // the answer of the save is on its way
                    lock.saved();
                  }, { capture: listener === 'form' });
                  await lock.renew();
                  form.querySelector('button:not([type])').click(); // half a second before the next renewal
                }""", listener);
        awaitState(kim, "viewing");
        List<String> calls = callsSinceLastLook();
        assertThat(calls).contains("PATCH").endsWith("DELETE").containsOnlyOnce("DELETE");
    }

    @Test
    void what_is_typed_before_the_lock_of_the_page_is_confirmed_stays() {
        String note = stage.newNote("text");
        List<Route> renewals = new ArrayList<>();
        Page kim = editWithHeldRenewal(note, renewals);
        assertEditable(kim);
        text(kim).press("End");
        text(kim).pressSequentially(", early");
        kim.evaluate("new Promise((over) => setTimeout(over, 400))"); // by now a draft would have been written
        assertThat((String) drafts(kim)).isEmpty(); // nobody knows whose it is
        resume(kim, renewals);
        awaitState(kim, "held");
        assertThat(text(kim)).hasValue("text, early");
        assertThat((String) drafts(kim)).contains("text, early");
    }

    @Test
    void save_that_is_pressed_before_the_lock_of_the_page_is_confirmed_waits_for_the_answer() {
        String note = stage.newNote("text");
        List<Route> renewals = new ArrayList<>();
        Page kim = editWithHeldRenewal(note, renewals);
        text(kim).fill("early");
        save(kim).click();
        save(kim).click();
        assertThat(form(kim)).hasAttribute("data-bitjang-state", "acquiring");
        assertThat(stored(note).version()).isEqualTo(1);
        resume(kim, renewals);
        kim.waitForURL("**/saved");
        assertThat(stored(note).text()).isEqualTo("early");
        assertThat(stored(note).version()).isEqualTo(2); // once
    }

    @Test
    void save_that_is_pressed_before_the_lock_of_the_page_is_known_to_be_gone_is_not_sent() {
        String note = stage.newNote("text");
        List<Route> renewals = new ArrayList<>();
        Page kim = editWithHeldRenewal(note, renewals);
        List<String> sent = new ArrayList<>();
        kim.onRequest(request -> sent.add(request.method()));
        text(kim).fill("early");
        save(kim).click();
        lock(note)
                .ifPresent(
                        held -> stage.locks().forceRelease(LockName.of("note", note), held.fence(), "lee", "urgent"));
        resume(kim, renewals);
        awaitState(kim, "lost");
        assertReadOnly(kim);
        assertThat(text(kim)).hasValue("early"); // to be copied
        assertThat(sent).doesNotContain("POST");
        assertThat(stored(note).version()).isEqualTo(1);
    }

    @Test
    void page_that_saves_by_itself_hears_of_a_save_that_waited_once_and_has_the_lock_then() {
        String note = stage.newNote("text");
        List<Route> renewals = new ArrayList<>();
        Page kim = editWithHeldRenewal(note, renewals);
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  const lock = editLock(document.querySelector('form'));
                  window.heard = [];
                  document.addEventListener('submit', (event) => {
                    event.preventDefault();
                    heard.push(lock.token !== null);
                  });
                }""");
        save(kim).click();
        assertThat(kim.evaluate("heard")).isEqualTo(List.of());
        resume(kim, renewals);
        kim.waitForFunction("heard.length > 0");
        awaitState(kim, "held");
        assertThat(kim.evaluate("heard")).isEqualTo(List.of(true));
    }

    @Test
    void save_that_waits_is_not_sent_when_one_comes_back_to_the_page() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        context.addInitScript(CROSSING);
        Page kim = context.newPage();
        List<Route> renewals = new ArrayList<>();
        open(kim, note, renewals);
        save(kim).click();
        kim.evaluate("leaveAndReturn()");
        resume(kim, renewals);
        awaitState(kim, "held");
        assertThat(save(kim)).isEnabled();
        assertThat(stored(note).version()).isEqualTo(1);
        save(kim).click(); // a new one is
        kim.waitForURL("**/saved");
    }

    /** An editor whose lock the server took, as long as the script does not know yet whether it still has it. */
    private Page editWithHeldRenewal(String note, List<Route> renewals) {
        return open(profileOf("kim").newPage(), note, renewals);
    }

    private static Page open(Page page, String note, List<Route> renewals) {
        page.navigate("/");
        page.route(LOCK, renewals::add);
        page.locator("button:text-is('Edit " + note + "')").click();
        page.waitForCondition(() -> renewals.size() == 1);
        awaitState(page, "acquiring");
        return page;
    }

    /** Lets the renewal go that was held, and those that may follow. */
    private static void resume(Page page, List<Route> renewals) {
        page.unroute(LOCK);
        renewals.forEach(Route::resume);
    }

    private Page crossing() {
        BrowserContext context = profileOf("kim");
        context.addInitScript(CROSSING);
        Page kim = edit(context, stage.newNote("text"));
        awaitState(kim, "held");
        assertThat(save(kim)).isEnabled();
        callsSinceLastLook();
        return kim;
    }
}
