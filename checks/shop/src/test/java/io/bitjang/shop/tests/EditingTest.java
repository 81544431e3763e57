// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.options.FormData;
import com.microsoft.playwright.options.RequestOptions;
import io.bitjang.browser.Browsers;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scene 1: one edits, the other reads. */
@InShop.OnOne
class EditingTest extends EditingScene {
    @Test
    void a_lost_edit_is_never_taken_for_one_that_was_saved_before() {
        String number = stage.newOrder();
        Page second = ready(windowOf("customer"), number);
        Page first = windowOf("customer", new Browser.NewContextOptions().setJavaScriptEnabled(false));
        first.navigate("/orders/" + number);
        editButton(first).click();
        field(first, "lines[0].quantity").fill("9");
        // the same person goes on in another tab, and saves the order as it was: only the quantity is another
        takeOver(second, "");
        save(second).click();
        assertThat(notice(second)).containsText("Saved.");
        assertThat(stage.order(number).getVersion()).isEqualTo(1);

        save(first).click();
        assertThat(title(first)).hasText("This edit has ended");
        assertThat(first.locator("dl.typed")).containsText("9");
        assertThat(stage.order(number).getLines().get(0).getQuantity()).isEqualTo(2);
    }

    @Test
    void who_takes_over_from_one_who_has_loaded_the_page_again_is_asked_once_more_and_nothing_typed_is_lost() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        Page operator = pressEdit(windowOf("operator"), number);
        field(operator, "reason").fill("urgent");
        customer.reload();
        awaitState(customer, "held"); // the same person, another grant
        operator.click("#take-over");
        assertThat(notice(operator)).hasText("customer is editing this.");
        assertThat(field(operator, "reason")).hasValue("urgent");
        assertThat(lock(number).orElseThrow().owner()).isEqualTo("customer");
        operator.click("#take-over");
        awaitState(operator, "held");
    }

    @Test
    void only_who_the_policy_allows_takes_over() {
        String number = stage.newOrder();
        edit(windowOf("operator"), number);
        Page customer = pressEdit(windowOf("customer"), number);
        assertThat(title(customer)).hasText("Someone is editing this");
        String token = customer.locator("meta[name=_csrf]").getAttribute("content");
        long fence = lock(number).orElseThrow().fence();
        APIResponse form = customer.request()
                .post(
                        "/orders/" + number + "/takeover",
                        RequestOptions.create()
                                .setForm(FormData.create()
                                        .set("_csrf", token)
                                        .set("expectedFence", String.valueOf(fence))
                                        .set("reason", "mine")));
        assertThat(form.status()).isEqualTo(403);
        APIResponse script = customer.request()
                .post(
                        "/bitjang/edit-locks/order/" + number + "/takeover",
                        RequestOptions.create()
                                .setHeader("X-CSRF-TOKEN", token)
                                .setData(Map.of(
                                        "expectedFence", fence, "reason", "mine", "clientId", "abcdefgh-ijkl-mnop")));
        assertThat(script.status()).isEqualTo(403);
        assertThat(lock(number).orElseThrow().owner()).isEqualTo("operator");
        assertThat(lock(number).orElseThrow().fence()).isEqualTo(fence);
    }

    @Test
    void a_crashed_browser_gives_the_order_free_when_its_lease_has_ended(@TempDir Path profile) {
        String number = stage.newOrder();
        Page operator = ready(windowOf("operator"), number);
        try (BrowserContext crashing = stage.browsers().processWith(profile)) {
            Page customer = crashing.pages().get(0);
            ShopStage.signIn(customer, "customer");
            edit(customer, number);
            Browsers.processesOf(profile).forEach(ProcessHandle::destroyForcibly);
            operator.waitForCondition(() -> Browsers.findProcessesOf(profile).isEmpty());

            editButton(operator).click();
            assertThat(notice(operator)).hasText("customer is editing this.");
            stage.lapse(number);
            editButton(operator).click(); // Try again
            awaitState(operator, "held");
        }
    }

    @Test
    void a_reload_keeps_the_lock_and_the_back_button_after_a_save_leads_to_no_dead_end() {
        String number = stage.newOrder();
        Page page = edit(windowOf("customer"), number);
        page.reload();
        awaitState(page, "held");
        field(page, "address").fill("Jeju");
        save(page).click();
        assertThat(notice(page)).containsText("Saved.");

        page.goBack();
        assertThat(title(page)).hasText("You are no longer editing this");
        editButton(page).click();
        awaitState(page, "held");
        assertThat(field(page, "address")).hasValue("Jeju");
    }

    @Test
    void a_second_tab_of_the_same_person_may_go_on_there() {
        String number = stage.newOrder();
        Page first = edit(windowOf("customer"), number);
        Page second = pressEdit(first.context().newPage(), number);
        assertThat(notice(second)).containsText("You are editing this in another tab");
        second.click("#take-over");
        awaitState(second, "held");
        wake(first);
        awaitState(first, "lost");
    }

    @Test
    void the_lock_id_travels_in_the_form_and_nowhere_else() {
        String number = stage.newOrder();
        Page page = edit(windowOf("customer"), number);
        String lid = page.locator("[name=lid]").inputValue();
        Request saved = page.waitForRequest(
                request -> request.method().equals("POST") && request.url().endsWith("/orders/" + number),
                () -> save(page).click());
        assertThat(saved.postData()).contains("lid=" + lid);
        assertThat(saved.url()).doesNotContain(lid);
        assertThat(notice(page)).containsText("Saved.");
        assertThat(page.content()).doesNotContain(lid);
    }

    @Test
    void picture_of_the_list() {
        Page operator = edit(windowOf("operator"), "1002");
        Page customer = windowOf("customer", new Browser.NewContextOptions().setViewportSize(1280, 800));
        customer.navigate("/orders");
        assertThat(customer.locator("tr:has-text('1002') .tag")).containsText("operator is editing, since");
        assertThat(customer.locator("tr:has-text('1001') .tag")).hasText("free");
        picture(customer, "orders");
        save(operator).click();
        assertThat(notice(operator)).containsText("Saved.");
    }
}
