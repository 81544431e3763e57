// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Test;

/** The hidden field and the server do the job; only renewal is missing. */
class WithoutJavaScriptTest extends BrowserTest {

    @Test
    void lock_is_taken_when_the_editor_is_opened_and_released_with_the_save() {
        String note = stage.newNote("text");
        Page kim = open("kim", note);
        assertThat(lock(note).orElseThrow().owner()).isEqualTo("kim");
        text(kim).fill("after");
        save(kim).click();
        assertThat(kim.locator("h1")).hasText("Saved");
        assertThat(stored(note).text()).isEqualTo("after");
        assertThat(lock(note)).isEmpty();
    }

    @Test
    void second_person_is_told_who_has_it() {
        String note = stage.newNote("text");
        open("kim", note);
        Page lee = open("lee", note);
        assertThat(lee.locator("h1")).hasText("Not saved (423)");
        assertThat(lee.locator("#why")).containsText("kim has been editing");
    }

    @Test
    void save_without_the_lock_is_refused_and_shows_the_text_again() {
        String note = stage.newNote("text");
        Page kim = open("kim", note);
        text(kim).fill("an hour of work");
        Page lee = edit(profileOf("lee"), note, "?boss=true");
        lee.locator(".bitjang input").fill("She is on holiday");
        action(lee, "take-over").click();
        awaitState(lee, "held");
        save(kim).click();
        assertThat(kim.locator("h1")).hasText("Not saved (423)");
        assertThat(kim.locator("#yours")).hasValue("an hour of work");
        assertThat(stored(note).text()).isEqualTo("text");
    }

    private Page open(String person, String note) {
        Page page = profileOf(person, new Browser.NewContextOptions().setJavaScriptEnabled(false))
                .newPage();
        page.navigate("/");
        page.locator("button:text-is('Edit " + note + "')").click();
        return page;
    }
}
