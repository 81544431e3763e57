// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import io.bitjang.browser.app.NotesApplication.Protection;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What a page may choose: how it looks, what it says, in which language, and by which token it is protected. */
class PageTest extends BrowserTest {

    @Test
    void page_without_attributes_imports_the_script_and_chooses_everything_itself() {
        String note = stage.newNote("text");
        Page kim = profileOf("kim").newPage();
        kim.navigate("/plain/" + note);
        assertThat(kim.locator("form")).hasAttribute("data-bitjang-state", "viewing");
        text(kim).fill("after");
        assertThat(kim.locator("#line")).hasText("<held> kim");
        assertThat(kim.evaluate("states.map(each => each.state)")).isEqualTo(List.of("viewing", "acquiring", "held"));
        assertThat(Watch.holdsLockId(kim.evaluate("JSON.stringify(states)").toString()))
                .isFalse();
        assertThat(drafts(kim)).isEqualTo("");
        save(kim).click();
        kim.waitForURL("**/saved");
        assertThat(stored(note).text()).isEqualTo("after");
    }

    @Test
    void button_that_does_not_save_needs_no_lock() {
        String note = stage.newNote("text");
        awaitState(edit(profileOf("kim"), note), "held");
        Page lee = profileOf("lee").newPage();
        lee.navigate("/plain/" + note);
        assertThat(lee.locator("form")).hasAttribute("data-bitjang-state", "held-by-other");
        assertThat(save(lee)).isDisabled();
        lee.locator("[name=preview]").click();
        lee.waitForURL("**/notes/preview");
    }

    @Test
    void button_that_does_not_save_leaves_the_lock_to_the_page_that_follows() {
        String note = stage.newNote("text");
        Page kim = profileOf("kim").newPage();
        kim.navigate("/plain/" + note);
        text(kim).fill("after");
        assertThat(kim.locator("#line")).hasText("<held> kim");
        Instant end = endOfLock(note);
        kim.locator("[name=preview]").click();
        kim.waitForURL("**/notes/preview");
        kim.waitForTimeout(1_000); // by now the server would have heard of it
        assertThat(endOfLock(note)).isAfterOrEqualTo(end);
    }

    @Test
    void form_that_takes_its_lock_on_change_can_be_saved_without_one() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note, "?take=change");
        awaitState(kim, "viewing");
        save(kim).click();
        kim.waitForURL("**/saved");
        assertThat(stored(note).version()).isEqualTo(2);
    }

    @Test
    void status_is_in_korean_on_a_korean_page() {
        String note = stage.newNote("text");
        awaitState(edit(profileOf("kim"), note), "held");
        Page lee = edit(profileOf("lee"), note, "?lang=ko&boss=true");
        assertThat(status(lee)).hasText(Pattern.compile("kim 님이 오[전후] \\d+:\\d\\d부터 편집하고 있습니다\\."));
        assertThat(action(lee, "take-over")).hasText("넘겨받기");
        picture(lee, "held-by-other-korean");
    }

    @Test
    void form_may_bring_its_own_words() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        context.addInitScript("""
                document.addEventListener('DOMContentLoaded', () => document.querySelector('form')
                  .setAttribute('data-bitjang-text-held', 'Yours, {owner}, <b>alone</b>'));""");
        Page kim = edit(context, note);
        assertThat(status(kim)).hasText("Yours, kim, <b>alone</b>");
    }

    @Test
    void change_of_state_is_read_aloud() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        assertThat(status(kim)).hasRole(com.microsoft.playwright.options.AriaRole.STATUS);
        assertThat(status(kim)).hasAttribute("aria-live", "polite");
        assertThat(status(kim)).hasText("You are editing. Others can read but not change this.");
        Page lee = edit(profileOf("lee"), note, "?boss=true");
        lee.locator(".bitjang input").fill("She is on holiday");
        action(lee, "take-over").click();
        awaitState(lee, "held");
        wake(kim);
        assertThat(status(kim)).hasAttribute("aria-live", "assertive");
    }

    @Test
    void server_that_is_made_for_scripts_gets_the_token_of_the_cookie() {
        BrowserContext context = watch(stage.contextAt(Protection.SCRIPTS, "kim"));
        try (context) {
            String note = stage.newNote("text");
            Page kim = edit(context, note);
            awaitState(kim, "held");
            text(kim).fill("after");
            save(kim).click();
            kim.waitForURL("**/saved");
        }
    }
}
