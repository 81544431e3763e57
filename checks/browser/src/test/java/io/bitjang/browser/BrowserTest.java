// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.Route;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.browser.app.Note;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test in Chromium, watched ({@link Watch}). */
@Tag("browser")
@ExtendWith(Stage.Extension.class)
abstract class BrowserTest {
    private static final String LOCKS = "/bitjang/edit-locks/";

    private final Watch watch = new Watch();
    private final List<String> calls = new ArrayList<>();
    private final List<Integer> answers = new ArrayList<>();
    Stage stage;

    @BeforeEach
    void enter(Stage shared) {
        stage = shared;
    }

    @AfterEach
    void leave() {
        watch.end();
    }

    /** A browser profile in which this person is signed in. */
    BrowserContext profileOf(String person) {
        return profileOf(person, new Browser.NewContextOptions());
    }

    BrowserContext profileOf(String person, Browser.NewContextOptions options) {
        return watch(stage.browsers().profileOf(person, options.setViewportSize(800, 500)));
    }

    BrowserContext watch(BrowserContext context) {
        context.onRequest(this::sent);
        context.onResponse(this::answered);
        return watch.on(context);
    }

    private void sent(Request request) {
        if (request.url().contains(LOCKS)) {
            calls.add(request.method() + request.url().replaceFirst(".*" + LOCKS + "note/[^/]*", ""));
        }
    }

    private void answered(Response response) {
        if (response.url().contains(LOCKS)) {
            answers.add(response.status());
        }
    }

    /** What was asked of the lock's endpoints since the last look: the method, and what follows the lock's path. */
    List<String> callsSinceLastLook() {
        List<String> seen = List.copyOf(calls);
        calls.clear();
        return seen;
    }

    /** The status of every answer of the lock's endpoints. */
    List<Integer> answers() {
        return answers;
    }

    /** The editor of a note in a new tab. */
    Page edit(BrowserContext context, String note) {
        return edit(context, note, "");
    }

    Page edit(BrowserContext context, String note, String query) {
        Page page = context.newPage();
        page.navigate("/notes/" + note + query);
        return page;
    }

    static Locator form(Page page) {
        return page.locator("form[data-bitjang-edit-lock]");
    }

    static Locator text(Page page) {
        return page.locator("[name=text]");
    }

    static Locator save(Page page) {
        return page.locator("button:has-text('Save')");
    }

    static Locator status(Page page) {
        return page.locator(".bitjang [role=status]");
    }

    static Locator action(Page page, String key) {
        return page.locator("[data-bitjang-action=" + key + "]");
    }

    static void awaitState(Page page, String state) {
        assertThat(form(page)).hasAttribute("data-bitjang-state", state);
    }

    /** The page asks the server at once, as it does when its person comes back to it, whatever its timers say. */
    static void wake(Page page) {
        page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }");
    }

    /** All fields can be read and copied, none can be changed, and Save is off. */
    static void assertReadOnly(Page page) {
        assertThat(save(page)).isDisabled();
        for (String name : List.of("title", "text", "secret")) {
            assertThat(page.locator("[name=" + name + "]")).hasJSProperty("readOnly", true);
            assertThat(page.locator("[name=" + name + "]")).isEnabled();
        }
        assertThat(page.locator("[name=colour]")).isDisabled();
    }

    static void assertEditable(Page page) {
        assertThat(text(page)).isEditable();
        assertThat(page.locator("[name=colour]")).isEnabled();
    }

    Note stored(String note) {
        return stage.notes().find(note).orElseThrow();
    }

    /** The lock as the database has it; empty if nobody has it. */
    Optional<LockData> lock(String note) {
        return stage.locks().find(LockName.of("note", note)).filter(LockData::held);
    }

    /** When the lock ends, or has ended. */
    Instant endOfLock(String note) {
        return stage.locks().find(LockName.of("note", note)).orElseThrow().expiresAt();
    }

    static Object drafts(Page page) {
        return page.evaluate(
                "Object.entries(localStorage).filter(([key]) => key.startsWith('bitjang')).map(([, value]) => value).join()");
    }

    /** An answer as the lock's endpoints give it. */
    static Route.FulfillOptions problem(int status, String type) {
        return new Route.FulfillOptions()
                .setStatus(status)
                .setContentType("application/problem+json")
                .setBody("{\"type\":\"urn:bitjang:" + type + "\",\"status\":" + status + "}");
    }

    /** A picture, to be looked at. */
    static void picture(Page page, String name) {
        page.screenshot(new Page.ScreenshotOptions().setPath(Path.of("target", "states", name + ".png")));
    }
}
