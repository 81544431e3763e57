// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import io.bitjang.LockName;
import io.bitjang.browser.app.NotesApplication;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Who has the lock keeps it while the page lives, and no longer. */
class HoldingTest extends BrowserTest {

    @Test
    void one_attribute_on_a_form_is_enough_to_lock_edit_and_save() {
        String note = stage.newNote("before");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        assertThat(lock(note).orElseThrow().owner()).isEqualTo("kim");
        picture(kim, "held");

        text(kim).fill("after");
        save(kim).click();
        kim.waitForURL("**/saved");

        assertThat(stored(note).text()).isEqualTo("after");
        assertThat(lock(note)).isEmpty();
        kim.waitForFunction("!Object.keys(localStorage).some(key => key.startsWith('bitjang'))");
    }

    @Test
    void nothing_is_locked_before_the_first_change_if_the_form_says_so() {
        String note = stage.newNote("before");
        Page kim = edit(profileOf("kim"), note, "?take=change");
        awaitState(kim, "viewing");
        assertEditable(kim);
        kim.waitForLoadState(com.microsoft.playwright.options.LoadState.NETWORKIDLE);
        assertThat(lock(note)).isEmpty();
        picture(kim, "viewing");

        text(kim).pressSequentially("x");
        awaitState(kim, "held");
        assertThat(lock(note)).isPresent();
        save(kim).click();
        kim.waitForURL("**/saved");
        assertThat(stored(note).text()).contains("x");
    }

    @Test
    void others_see_who_edits_and_since_when_and_can_read_but_not_write() {
        String note = stage.newNote("text");
        awaitState(edit(profileOf("kim"), note), "held");

        Page lee = edit(profileOf("lee"), note);
        awaitState(lee, "held-by-other");
        assertThat(status(lee)).hasText(Pattern.compile("kim is editing this, since \\d+:\\d\\d\\s[AP]M\\."));
        assertReadOnly(lee);
        assertThat(text(lee)).hasValue("text");
        assertThat(action(lee, "take-over")).hasCount(0);
        picture(lee, "held-by-other");
    }

    @Test
    void who_waits_is_told_that_it_is_free_and_has_to_read_it_again() {
        String note = stage.newNote("old");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        Page lee = edit(profileOf("lee"), note);
        awaitState(lee, "held-by-other");

        text(kim).fill("new");
        save(kim).click();
        kim.waitForURL("**/saved");

        assertThat(status(lee)).containsText("no longer being edited by kim");
        assertReadOnly(lee);
        picture(lee, "held-by-other-ended");
        action(lee, "reload").click();
        awaitState(lee, "held");
        assertThat(text(lee)).hasValue("new");
    }

    @Test
    void reload_finds_the_lock_again() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        for (int i = 0; i < 3; i++) {
            kim.reload();
            awaitState(kim, "held");
        }
        assertThat(answers()).doesNotContain(423, 410);
    }

    @Test
    void reload_of_a_page_whose_lock_the_server_took_finds_it_again() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page kim = context.newPage();
        kim.navigate("/");
        assertThat(kim.locator("[data-bitjang-client]").first()).hasValue(Pattern.compile("[0-9a-f]{32}"));
        kim.locator("button:text-is('Edit " + note + "')").click();
        awaitState(kim, "held");
        kim.reload();
        awaitState(kim, "held");
        text(kim).fill("after");
        save(kim).click();
        kim.waitForURL("**/saved");
        assertThat(callsSinceLastLook()).doesNotContain("PUT");
    }

    @Test
    void back_button_finds_the_lock_again() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        kim.locator("a:has-text('Leave')").click();
        kim.waitForURL("**/");
        kim.goBack();
        awaitState(kim, "held");
        assertEditable(kim);
        assertThat(answers()).doesNotContain(423, 410);
    }

    @Test
    void back_to_a_saved_form_does_not_bring_its_old_text_back_for_editing() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        text(kim).fill("after");
        save(kim).click();
        kim.waitForURL("**/saved");
        kim.goBack();
        awaitState(kim, "held");
        assertThat(kim.locator("[name=version]")).hasValue("2");
        assertThat(text(kim)).hasValue("after");
    }

    @Test
    void leaving_the_page_cuts_the_lease_to_seconds() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        AtomicReference<Instant> latest = new AtomicReference<>(endOfLock(note));
        kim.navigate("/");
        // A renewal only moves the end on; nothing but leaving moves it back.
        kim.waitForCondition(() -> {
            Instant end = endOfLock(note);
            return end.isBefore(latest.getAndAccumulate(end, (one, other) -> one.isAfter(other) ? one : other));
        });
        assertThat(stage.locks().find(LockName.of("note", note)).orElseThrow().remaining())
                .isLessThanOrEqualTo(NotesApplication.LEAVE_GRACE);
    }

    @Test
    void hidden_tab_goes_on_renewing_and_does_not_leave() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        kim.evaluate("""
                Object.defineProperty(document, 'hidden', { get: () => true, configurable: true });
                Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true });
                document.dispatchEvent(new Event('visibilitychange'));""");
        callsSinceLastLook();
        for (int i = 0; i < 2; i++) { // by its timer
            kim.waitForResponse(response -> response.request().method().equals("PATCH"), () -> {});
        }
        assertThat(callsSinceLastLook()).containsOnly("PATCH");
        assertThat(lock(note)).isPresent();
        awaitState(kim, "held");
    }

    @Test
    void page_that_saves_by_itself_gets_the_lock_id_and_gives_it_back() {
        String note = stage.newNote("text");
        Page kim = edit(profileOf("kim"), note);
        awaitState(kim, "held");
        kim.evaluate("""
                async () => {
                  const { editLock } = await import('/bitjang/bitjang-edit-lock.js');
                  const lock = editLock(document.querySelector('form'));
                  if (lock.token !== document.querySelector('[name=lid]').value) throw new Error('not the lock id');
                  await lock.release();
                }""");
        awaitState(kim, "viewing");
        assertReadOnly(kim);
        assertThat(lock(note)).isEmpty();
        assertThat(kim.locator("[name=lid]")).hasValue("");
    }
}
