// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.PlaywrightException;
import com.microsoft.playwright.assertions.LocatorAssertions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The network, the tab, the browser or the computer goes away. */
class OutageTest extends BrowserTest {
    private static final double LAPSE_MS = 60_000;

    @Test
    void short_loss_of_the_network_turns_saving_off_until_the_lock_is_confirmed() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page kim = edit(context, note);
        awaitState(kim, "held");

        context.setOffline(true);
        awaitState(kim, "uncertain");
        assertThat(save(kim)).isDisabled();
        text(kim).fill("typed without a network");
        picture(kim, "uncertain");

        context.setOffline(false);
        awaitState(kim, "held");
        save(kim).click();
        kim.waitForURL("**/saved");
        assertThat(stored(note).text()).isEqualTo("typed without a network");
    }

    @Test
    void loss_of_the_network_for_longer_than_the_lease_loses_the_lock_but_not_the_text() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page kim = edit(context, note);
        awaitState(kim, "held");
        Page lee = edit(profileOf("lee"), note);
        awaitState(lee, "held-by-other");

        context.setOffline(true);
        awaitState(kim, "uncertain");
        text(kim).fill("typed without a network");
        stage.lapse(note);
        wake(lee);
        assertThat(status(lee)).containsText("no longer"); // the lease is over
        awaitState(kim, "uncertain");
        context.setOffline(false);

        awaitState(kim, "lost");
        assertReadOnly(kim);
        assertThat(text(kim)).hasValue("typed without a network");
        picture(kim, "lost-lapsed");

        action(kim, "reload").click();
        awaitState(kim, "held");
        assertThat(text(kim)).hasValue("text");
        assertThat(kim.locator(".bitjang-draft")).containsText("unsaved text");
        picture(kim, "held-with-draft");
        action(kim, "restore").click();
        assertThat(text(kim)).hasValue("typed without a network");
        assertThat(kim.locator(".bitjang-draft")).isHidden();
    }

    @Test
    void computer_that_slept_longer_than_the_lease_has_lost_it_when_it_wakes() throws IOException {
        Path profile = newProfile();
        String note = stage.newNote("text");
        Page kim = inOwnProcess(profile, note);
        text(kim).fill("typed before the sleep");
        Page lee = edit(profileOf("lee"), note);
        awaitState(lee, "held-by-other");

        Browsers.processesOf(profile).forEach(process -> signal(process, "STOP"));
        // the lease is over, in its own time
        assertThat(status(lee))
                .containsText("no longer", new LocatorAssertions.ContainsTextOptions().setTimeout(LAPSE_MS));
        Browsers.processesOf(profile).forEach(process -> signal(process, "CONT"));

        awaitState(kim, "lost");
        assertReadOnly(kim);
        assertThat(text(kim)).hasValue("typed before the sleep");
        kim.context().close();
    }

    @Test
    void crashed_tab_can_be_followed_by_another_that_takes_over_at_once_and_has_the_text() {
        String note = stage.newNote("text");
        BrowserContext context = profileOf("kim");
        Page crashing = edit(context, note);
        awaitState(crashing, "held");
        text(crashing).fill("typed before the crash");
        crashing.waitForFunction("Object.keys(localStorage).some(key => key.startsWith('bitjang.draft'))");
        CompletableFuture<Page> crashed = new CompletableFuture<>();
        crashing.onCrash(crashed::complete);
        crash(crashing);
        context.waitForCondition(crashed::isDone);
        crashing.close();

        Page kim = edit(context, note);
        awaitState(kim, "held-by-other");
        assertThat(status(kim)).containsText("You are editing this in another tab");
        action(kim, "take-over-mine").click();
        awaitState(kim, "held");
        assertThat(text(kim)).hasValue("text");
        action(kim, "restore").click();
        assertThat(text(kim)).hasValue("typed before the crash");
    }

    private static void crash(Page page) {
        try {
            page.navigate("chrome://crash");
        } catch (PlaywrightException e) {
            assertThat(e).hasMessageContaining("crash"); // nobody is left to answer
        }
    }

    @Test
    void lock_of_a_killed_browser_is_free_after_the_lease() throws IOException {
        Path profile = newProfile();
        String note = stage.newNote("text");
        inOwnProcess(profile, note);
        Page lee = edit(profileOf("lee"), note);
        awaitState(lee, "held-by-other");
        callsSinceLastLook();

        Browsers.processesOf(profile).forEach(ProcessHandle::destroyForcibly);
        lee.waitForCondition(() -> Browsers.findProcessesOf(profile).isEmpty());

        assertThat(lock(note)).isPresent(); // nobody gave it back
        stage.lapse(note);
        wake(lee);
        assertThat(status(lee)).containsText("no longer");
        assertThat(callsSinceLastLook()).doesNotContain("POST/leave");
        action(lee, "reload").click();
        awaitState(lee, "held");
    }

    private static Path newProfile() throws IOException {
        return Files.createTempDirectory(Path.of("target").toAbsolutePath(), "profile");
    }

    private Page inOwnProcess(Path profile, String note) {
        BrowserContext context = watch(stage.browsers().processWith(profile));
        Page kim = context.newPage();
        Stage.signIn(kim, "kim");
        kim.navigate("/notes/" + note);
        awaitState(kim, "held");
        return kim;
    }

    private static void signal(ProcessHandle process, String name) {
        try {
            new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("The test was interrupted", e);
        }
    }
}
