// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import io.bitjang.LockName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who has lost the lock learns it, keeps the text, and writes nothing any more. */
class LosingTest extends BrowserTest {

    @Test
    void take_over_leaves_the_text_to_the_one_who_lost_to_read_and_copy() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        Page lee = edit(profileOf("lee"), note, "?boss=true");
        awaitState(lee, "held-by-other");
        picture(lee, "held-by-other-take-over");

        action(lee, "take-over").click();
        awaitState(lee, "held-by-other"); // not without a reason
        assertThat(lee.locator(".bitjang [role=alert]")).hasText("Please give a reason.");
        assertThat(lee.locator(".bitjang input")).hasAttribute("aria-invalid", "true");
        assertThat(lee.locator(".bitjang input")).isFocused();
        lee.locator(".bitjang input").fill("She is on holiday");
        action(lee, "take-over").click();
        awaitState(lee, "held");
        assertEditable(lee);
        assertThat(lock(note).orElseThrow().owner()).isEqualTo("lee");

        awaitState(kim, "lost");
        assertThat(status(kim)).containsText("lee has taken over, at ");
        assertReadOnly(kim);
        text(kim).selectText();
        assertThat(
                        kim.evaluate(
                                "() => { const t = document.activeElement; return t.value.slice(t.selectionStart, t.selectionEnd); }"))
                .isEqualTo("an hour of work");
        picture(kim, "lost-taken");
    }

    @Test
    void who_loses_the_lock_to_an_operator_reads_who_took_it_and_why() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        long fence = lock(note).orElseThrow().fence();
        stage.locks().forceRelease(LockName.of("note", note), fence, "ops", "the note moves");
        awaitState(kim, "lost");
        assertThat(status(kim)).containsText("Your edit lock was taken away by ops: the note moves.");
        assertReadOnly(kim);
        assertThat(text(kim)).hasValue("an hour of work");
    }

    @Test
    void loser_never_turns_editable_again() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        Page lee = edit(profileOf("lee"), note, "?boss=true");
        lee.locator(".bitjang input").fill("She is on holiday");
        action(lee, "take-over").click();
        awaitState(lee, "held");
        wake(kim);
        awaitState(kim, "lost");
        save(lee).click(); // and the lock is free again
        lee.waitForURL("**/saved");
        kim.waitForLoadState(com.microsoft.playwright.options.LoadState.NETWORKIDLE);
        callsSinceLastLook();

        for (String event : List.of("online", "focus", "pageshow")) {
            kim.evaluate("event => window.dispatchEvent(Object.assign(new Event(event), { persisted: true }))", event);
        }
        for (String event : List.of("visibilitychange", "resume")) {
            kim.evaluate("event => document.dispatchEvent(new Event(event))", event);
        }
        kim.evaluate("document.querySelector('form').reset()");
        kim.evaluate("document.querySelector('form').requestSubmit()");
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  const lock = editLock(document.querySelector('form'));
                  await lock.takeOver('again');
                  await lock.renew();
                  await lock.release();
                  lock.saved();
                }""");

        awaitState(kim, "lost");
        assertReadOnly(kim);
        assertThat(text(kim)).hasValue("an hour of work");
        assertThat(callsSinceLastLook()).isEmpty();
        assertThat(stored(note).text()).isEqualTo("text");
    }

    @Test
    void take_over_is_not_offered_to_people_who_may_not() {
        String note = stage.newNote("text");
        awaitState(edit(profileOf("lee"), note), "held");
        Page kim = edit(profileOf("kim"), note, "?boss=true");
        awaitState(kim, "held-by-other");
        assertThat(action(kim, "take-over")).hasCount(0);
        assertThat(kim.locator(".bitjang input")).hasCount(0);
    }

    @Test
    void take_over_that_the_policy_refuses_changes_nothing_and_the_page_goes_on_watching() {
        String note = stage.newNote("text");
        Page lee = edit(profileOf("lee"), note);
        awaitState(lee, "held");
        Page kim = edit(profileOf("kim"), note, "?boss=true");
        awaitState(kim, "held-by-other");
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  await editLock(document.querySelector('form')).takeOver('I want it');
                }""");
        assertThat(status(kim)).containsText("You may not take over. lee is editing this");
        awaitState(kim, "held-by-other");
        assertReadOnly(kim);
        assertThat(action(kim, "take-over")).hasCount(0);
        awaitState(lee, "held");

        text(lee).fill("saved by lee");
        save(lee).click();
        lee.waitForURL("**/saved");
        assertThat(status(kim)).containsText("It is no longer being edited by lee");
        assertThat(action(kim, "reload")).isVisible();
    }

    @Test
    void take_over_from_a_page_that_is_older_than_the_last_save_is_refused_and_leads_to_reload() {
        String note = stage.newNote("text");
        awaitState(edit(profileOf("kim"), note), "held");
        Page lee = edit(profileOf("lee"), note, "?boss=true");
        awaitState(lee, "held-by-other");
        stage.notes().update(note, "A note", "someone else's", "red");
        takeOver(lee);
        awaitState(lee, "lost");
        assertThat(lock(note).orElseThrow().owner()).isEqualTo("kim");
        assertThat(status(lee)).containsText("Someone has saved since you opened this");
        assertReadOnly(lee);
        assertThat(action(lee, "reload")).isVisible();
    }

    @Test
    void take_over_works_where_the_server_knows_no_versions() {
        String note = stage.newNote("text");
        awaitState(edit(profileOf("kim"), note), "held");
        Page lee = edit(profileOf("lee"), note, "?boss=true");
        awaitState(lee, "held-by-other");
        List<String> versions = new ArrayList<>();
        lee.route("**/takeover", route -> {
            String version = route.request().headerValue("If-Match");
            versions.add(version);
            if (version == null) {
                route.resume();
            } else {
                route.fulfill(problem(501, "no-versions"));
            }
        });
        takeOver(lee);
        awaitState(lee, "held");
        assertThat(versions).containsExactly("\"1\"", null);
    }

    private static void takeOver(Page page) {
        page.locator(".bitjang input").fill("She is on holiday");
        action(page, "take-over").click();
    }

    @Test
    void save_after_the_lock_is_gone_is_refused_and_the_text_is_in_the_answer_and_in_the_draft() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        // Faster than any renewal: in one task of the page the lock is given back and the form is sent.
        kim.evaluate("""
                () => {
                  const request = new XMLHttpRequest();
                  request.open('DELETE', document.querySelector('form').dataset.bitjangEditLock.replace(/^/, '/bitjang/edit-locks/'), false);
                  request.setRequestHeader('Lock-Token', document.querySelector('[name=lid]').value);
                  request.setRequestHeader('X-CSRF-TOKEN', document.querySelector('meta[name=_csrf]').content);
                  request.send();
                  document.querySelector('form').requestSubmit();
                }""");

        assertThat(kim.locator("h1")).hasText("Not saved (410)");
        assertThat(kim.locator("#yours")).hasValue("an hour of work");
        assertThat(stored(note).text()).isEqualTo("text");
        kim.navigate("/notes/" + note);
        awaitState(kim, "held");
        action(kim, "restore").click();
        assertThat(text(kim)).hasValue("an hour of work");
    }

    @Test
    void page_that_is_older_than_the_last_save_is_told_so_before_anything_is_typed() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page kim = edit(context, note, "?take=change");
        awaitState(kim, "viewing");
        stage.notes().update(note, "A note", "someone else's", "red");
        text(kim).pressSequentially("x");
        awaitState(kim, "lost");
        assertThat(status(kim)).containsText("Someone has saved since you opened this");
        assertReadOnly(kim);
        assertThat(lock(note)).isEmpty();
        picture(kim, "lost-stale");
        action(kim, "reload").click();
        awaitState(kim, "viewing");
        assertThat(text(kim)).hasValue("someone else's");
    }

    @Test
    void who_types_while_someone_else_has_it_keeps_what_was_typed() {
        String note = stage.newNote("text");
        Page lee = edit(profileOf("lee"), note, "?take=change");
        awaitState(lee, "viewing");
        awaitState(edit(profileOf("kim"), note), "held");
        text(lee).press("End");
        text(lee).pressSequentially("!");
        awaitState(lee, "held-by-other");
        assertReadOnly(lee);
        assertThat(text(lee)).hasValue("text!");
    }

    @Test
    void two_clicks_save_once() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("after");
        Object sent = kim.evaluate("""
                () => {
                  let sent = 0;
                  document.addEventListener('submit', (event) => { sent += event.defaultPrevented ? 0 : 1; });
                  const save = document.querySelector('form button:not([type])');
                  save.click();
                  save.click();
                  return sent;
                }""");
        assertThat(sent).isEqualTo(1);
        kim.waitForURL("**/saved");
        assertThat(stored(note).version()).isEqualTo(2);
        assertThat(stored(note).text()).isEqualTo("after");
    }

    @Test
    void who_is_signed_out_keeps_the_text_and_can_not_save() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page kim = edit(context, note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        context.clearCookies();
        wake(kim);
        awaitState(kim, "uncertain");
        assertThat(status(kim)).containsText("signed out");
        assertThat(save(kim)).isDisabled();
        assertThat(text(kim)).hasValue("an hour of work");
        picture(kim, "uncertain-signed-out");
    }
}
