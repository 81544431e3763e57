// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Test;

/** One person, several tabs. */
class TabsTest extends BrowserTest {
    private static final String TAB = "sessionStorage.getItem('bitjang.tab')";

    @Test
    void second_tab_of_the_same_person_may_take_over_and_is_offered_the_text_of_the_first() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page first = edit(context, note);
        awaitState(first, "held");
        text(first).fill("typed in the first tab");
        first.waitForFunction("Object.keys(localStorage).some(key => key.startsWith('bitjang.draft'))");

        Page second = edit(context, note);
        awaitState(second, "held-by-other");
        assertThat(status(second)).containsText("You are editing this in another tab, since ");
        assertReadOnly(second);
        picture(second, "held-by-other-mine");
        action(second, "take-over-mine").click();
        awaitState(second, "held");
        action(second, "restore").click();
        assertThat(text(second)).hasValue("typed in the first tab");

        wake(first);
        awaitState(first, "lost");
        assertThat(status(first)).containsText("You went on editing in another tab");
        assertReadOnly(first);
        assertThat(text(first)).hasValue("typed in the first tab");
        picture(first, "lost-taken-by-me");
    }

    @Test
    void duplicated_tab_is_another_tab() {
        duplicated(profileOf("kim"));
    }

    @Test
    void duplicated_tab_is_another_tab_where_the_browser_has_no_web_locks() {
        BrowserContext context = profileOf("kim");
        context.addInitScript("Object.defineProperty(Navigator.prototype, 'locks', { get: () => undefined });");
        duplicated(context);
    }

    private void duplicated(BrowserContext context) {
        String note = stage.newNote("text");
        Page original = edit(context, note);
        awaitState(original, "held");
        Object tab = original.evaluate(TAB);

        // Like "Duplicate tab": a window that a page opens begins with a copy of its session storage.
        Page copy = context.waitForPage(() -> original.evaluate("() => { window.open(location.href); }"));
        awaitState(copy, "held-by-other");
        assertThat(status(copy)).containsText("You are editing this in another tab");
        assertThat(copy.evaluate(TAB)).isNotEqualTo(tab);
        assertThat(original.evaluate(TAB)).isEqualTo(tab);
        awaitState(original, "held");

        original.reload();
        awaitState(original, "held");
        assertThat(original.evaluate(TAB)).isEqualTo(tab);
    }
}
