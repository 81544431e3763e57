// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What was typed is kept in the browser until it is saved. */
class DraftTest extends BrowserTest {

    @Test
    void draft_is_offered_and_never_put_in_by_itself() {
        String note = stage.newNote("text");
        Page kim = leftUnsaved(profileOf("kim"), note);
        kim.reload();
        awaitState(kim, "held");
        assertThat(action(kim, "restore")).isVisible();
        assertThat(text(kim)).hasValue("text");
        assertThat(kim.locator("[name=colour]")).hasValue("green");

        text(kim).fill("typed without an answer to the offer");
        kim.reload();
        awaitState(kim, "held");
        action(kim, "restore").click(); // the newest first
        assertThat(text(kim)).hasValue("typed without an answer to the offer");
        action(kim, "restore").click();
        assertThat(text(kim)).hasValue("an hour of work");
        assertThat(kim.locator("[name=colour]")).hasValue("blue");
    }

    @Test
    void draft_is_kept_also_where_the_server_has_taken_the_lock() {
        String note = stage.newNote("text");
        Page kim = profileOf("kim").newPage();
        kim.navigate("/");
        kim.locator("form:has-text('Edit " + note + "') button").last().click();
        awaitState(kim, "held");
        text(kim).fill("typed under a lock of the server's");
        kim.reload();
        awaitState(kim, "held");
        action(kim, "restore").click();
        assertThat(text(kim)).hasValue("typed under a lock of the server's");
    }

    @Test
    void draft_that_is_discarded_is_gone() {
        String note = stage.newNote("text");
        Page kim = leftUnsaved(profileOf("kim"), note);
        kim.reload();
        action(kim, "discard").click();
        assertThat(kim.locator(".bitjang-draft")).isHidden();
        assertThat(drafts(kim)).isEqualTo("");
        assertThat(text(kim)).hasValue("text");
    }

    @Test
    void draft_has_no_password_and_no_lock_id() {
        String note = stage.newNote("text");
        Page kim = leftUnsaved(profileOf("kim"), note);
        String draft = String.valueOf(drafts(kim));
        assertThat(draft).contains("an hour of work", "blue").doesNotContain("hunter2", "lid", "_csrf", "secret");
        String everything = String.valueOf(
                kim.evaluate("JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })"));
        assertThat(Watch.holdsLockId(kim.locator("[name=lid]").inputValue())).isTrue();
        assertThat(Watch.holdsLockId(everything)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cc-number",
                "billing cc-number",
                "section-a cc-csc",
                "section-a billing CC-EXP",
                "cc-number webauthn",
                "section-b one-time-code",
                "current-password",
                "section-b new-password"
            })
    void draft_has_no_field_that_is_for_a_card_a_password_or_a_code(String purpose) {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        kim.evaluate("""
                (purpose) => document.querySelector('form').insertAdjacentHTML('beforeend',
                  `<input name="private" autocomplete="${purpose}"><input name="public" autocomplete="billing name">`)""", purpose);
        kim.locator("[name=private]").fill("4111 1111 1111 1111");
        kim.locator("[name=public]").fill("Kim");
        awaitDraftWith(kim, "Kim");
        assertThat(String.valueOf(drafts(kim))).doesNotContain("4111", "private");
    }

    @Test
    void draft_has_no_password_while_the_page_shows_it() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        Locator secret = kim.locator("[name=secret]");
        secret.fill("hunter2");
        secret.evaluate("(field) => { field.type = 'text'; }");
        secret.fill("hunter22");
        text(kim).fill("shown as text");
        awaitDraftWith(kim, "shown as text");
        assertThat(String.valueOf(drafts(kim))).doesNotContain("hunter", "secret");

        // A page may also put another field in its place, add one later, and mask one by its style.
        secret.evaluate("(field) => { field.outerHTML = '<input name=secret>'; }");
        secret.fill("hunter222");
        kim.evaluate("""
                () => {
                  document.querySelector('form').insertAdjacentHTML('beforeend',
                    '<input name=later type=Password><input name=masked style="-webkit-text-security: disc">');
                  document.querySelector('[name=later]').type = 'text';
                }""");
        kim.locator("[name=later]").fill("hunter3");
        kim.locator("[name=masked]").fill("hunter4");
        text(kim).fill("in other ways");
        awaitDraftWith(kim, "in other ways");
        assertThat(String.valueOf(drafts(kim))).doesNotContain("hunter", "secret", "later", "masked");
    }

    @Test
    void draft_is_not_shown_to_the_next_person_at_the_same_computer() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page page = leftUnsaved(context, note);
        page.navigate("/");
        context.clearCookies();
        Stage.signIn(page, "lee");
        stage.lapse(note);
        page.navigate("/notes/" + note);
        awaitState(page, "held");
        assertThat(action(page, "restore")).hasCount(0);
        page.evaluate("async () => (await import('/bitjang/bitjang-edit-lock.js')).clearDrafts()");
        assertThat(drafts(page)).isEqualTo("");
    }

    @Test
    void draft_older_than_a_week_goes_whoever_wrote_it_and_wherever() {
        String note = stage.newNote("text");
        Page kim = profileOf("kim").newPage();
        kim.navigate("/");
        kim.evaluate("""
                [8, 6].forEach((days) => localStorage.setItem(`bitjang.draft:note/elsewhere:${days}`, JSON.stringify(
                  { owner: 'lee', at: Date.now() - days * 24 * 3600 * 1000, values: [['text', `${days} days`]] })))""");
        kim.navigate("/notes/" + note);
        awaitState(kim, "held");
        assertThat(String.valueOf(drafts(kim))).contains("6 days").doesNotContain("8 days");
        assertThat(action(kim, "restore")).hasCount(0);
    }

    private Page leftUnsaved(BrowserContext context, String note) {
        Page kim = edit(context, note);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        kim.locator("[name=secret]").fill("hunter2");
        kim.locator("[name=colour]").selectOption("blue");
        awaitDraftWith(kim, "blue");
        return kim;
    }

    private static void awaitDraftWith(Page page, String text) {
        page.waitForFunction(
                "(text) => Object.entries(localStorage).some(([key, value]) => key.startsWith('bitjang.draft') && value.includes(text))",
                text);
    }
}
