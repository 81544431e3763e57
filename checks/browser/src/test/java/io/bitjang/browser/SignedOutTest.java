// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import io.bitjang.browser.app.NotesApplication.Protection;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A page whose person is signed out says so, whatever the server's protection answers. */
class SignedOutTest extends BrowserTest {
    private static final String LOCKS = "/bitjang/edit-locks/";

    @ParameterizedTest
    @CsvSource({"BOOT, en, You are signed out", "BOOT_WITH_OPEN_ERRORS, ko, 로그아웃되었습니다"})
    void page_says_that_its_person_is_signed_out_and_the_browser_asks_for_no_password(
            Protection protection, String language, String told) {
        BrowserContext context = watch(stage.contextAt(protection, "kim"));
        List<String> challenges = new ArrayList<>();
        List<String> unsaid = new ArrayList<>();
        context.onResponse(response -> {
            if (response.url().contains(LOCKS) && response.headers().containsKey("www-authenticate")) {
                challenges.add(
                        response.request().method() + " " + response.headers().get("www-authenticate"));
            }
        });
        context.onRequest(request -> {
            boolean said = "XMLHttpRequest".equals(request.headers().get("x-requested-with"));
            if (request.url().contains(LOCKS) && !said) {
                unsaid.add(request.method());
            }
        });
        Page kim = edit(context, stage.newNote("text"), "?lang=" + language);
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        context.clearCookies();
        wake(kim);
        awaitState(kim, "uncertain");
        assertThat(status(kim)).containsText(told);
        assertThat(save(kim)).isDisabled();
        assertThat(text(kim)).hasValue("an hour of work");
        assertThat(challenges).isEmpty();
        assertThat(unsaid).isEmpty();
    }

    @Test
    void page_that_is_opened_by_someone_who_is_signed_out_by_then_says_so() {
        BrowserContext context = watch(stage.contextAt(Protection.BOOT_WITH_OPEN_ERRORS, "kim"));
        Page kim = edit(context, stage.newNote("text"), "?take=change");
        awaitState(kim, "viewing");
        context.clearCookies();
        text(kim).fill("typed");
        assertThat(status(kim)).containsText("You are signed out");
        assertReadOnly(kim);
        assertThat(action(kim, "reload")).isVisible();
    }

    @Test
    void page_of_an_earlier_sign_in_says_so_and_keeps_the_text_over_the_reload() {
        BrowserContext context = profileOf("kim");
        Page kim = edit(context, stage.newNote("text"));
        awaitState(kim, "held");
        text(kim).fill("an hour of work");
        context.clearCookies();
        Stage.signIn(context.newPage(), "kim");
        wake(kim);
        assertThat(status(kim)).containsText("You have signed in again since this page was opened");
        awaitState(kim, "uncertain");
        assertThat(save(kim)).isDisabled();
        action(kim, "reload").click();
        awaitState(kim, "held");
        action(kim, "restore").click();
        assertThat(text(kim)).hasValue("an hour of work");
    }
}
