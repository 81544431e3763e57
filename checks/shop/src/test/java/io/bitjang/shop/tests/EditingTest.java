// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.options.FormData;
import com.microsoft.playwright.options.RequestOptions;
import io.bitjang.LockName;
import io.bitjang.admin.AuditEntry;
import io.bitjang.admin.LockAdmin;
import io.bitjang.browser.Browsers;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scene 1: one edits, the other reads. */
@InShop.OnEach
class EditingTest extends InShop {

    @Test
    void second_person_sees_who_is_editing_and_since_when_and_edits_after_the_save() {
        String number = stage.newOrder();
        Page operator = edit(windowOf("operator"), number);
        picture(operator, "edit");
        assertThat(operator.locator("[name=lid]")).not().hasValue("");

        Page customer = pressEdit(windowOf("customer"), number);
        assertThat(title(customer)).hasText("Someone is editing this");
        assertThat(notice(customer)).hasText("operator is editing this.");
        assertThat(customer.locator("main time")).hasText(sinceWhen(number));
        assertThat(customer.locator("#take-over")).hasCount(0);
        customer.navigate("/orders/" + number);
        assertThat(notice(customer)).containsText("operator is editing, since " + sinceWhen(number));

        field(operator, "address").fill("Jeju");
        field(operator, "lines[0].quantity").fill("3");
        save(operator).click();
        assertThat(notice(operator)).containsText("Saved.");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Jeju");
        assertThat(stage.order(number).getLines().get(0).getQuantity()).isEqualTo(3);
        assertThat(stage.order(number).getVersion()).isEqualTo(1);
        assertThat(lock(number)).isEmpty();

        edit(customer, number);
        assertThat(field(customer, "address")).hasValue("Jeju");
    }

    @Test
    void operator_takes_over_and_the_former_editor_keeps_the_text_but_can_not_save() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        field(customer, "message").fill("what I typed for an hour");

        Page operator = pressEdit(windowOf("operator"), number);
        assertThat(notice(operator)).hasText("customer is editing this.");
        picture(operator, "edit-someone-else");
        field(operator, "reason").fill("the customer has gone home");
        operator.click("#take-over");
        awaitState(operator, "held");

        awaitState(customer, "lost");
        assertThat(save(customer)).isDisabled();
        assertThat(field(customer, "message")).hasValue("what I typed for an hour");
        assertThat(customer.locator(".bitjang [role=status]")).containsText("operator has taken over");
        picture(customer, "edit-lost");

        field(operator, "address").fill("Busan");
        save(operator).click();
        assertThat(notice(operator)).containsText("Saved.");
        assertThat(stage.bean(LockAdmin.class).audit(50))
                .filteredOn(entry -> entry.name().id().equals(number))
                .extracting(AuditEntry::reason)
                .contains("the customer has gone home");
    }

    @Test
    void the_late_save_of_one_who_lost_the_lock_is_refused_with_both_states_side_by_side() {
        String number = stage.newOrder();
        Page operator = ready(windowOf("operator"), number);
        // Without a script nothing tells the page that it has lost the lock.
        Page customer = windowOf("customer", new Browser.NewContextOptions().setJavaScriptEnabled(false));
        customer.navigate("/orders/" + number);
        editButton(customer).click();
        takeOver(operator, "urgent");

        field(customer, "address").fill("the late address");
        field(customer, "lines[0].quantity").fill("7");
        save(customer).click();
        assertThat(notice(customer)).hasText("operator is editing this.");
        assertThat(customer.locator("dl.typed div:has-text('Tea bowl') dd")).hasText("7");
        assertThat(customer.locator("dl.typed")).containsText("the late address");
        assertThat(customer.locator("dl.order")).containsText("Seoul");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Seoul");
        picture(customer, "edit-too-late");
    }

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
    void a_form_of_an_old_version_is_refused_although_its_lock_is_good() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        stage.move(number, "Busan"); // by someone who asks for no lock
        field(customer, "address").fill("Jeju");
        Response answer = customer.waitForResponse(
                Pattern.compile(".*/orders/" + number), () -> save(customer).click());
        assertThat(answer.status()).isEqualTo(412);
        assertThat(title(customer)).hasText("Someone was faster");
        assertThat(customer.locator("dl.typed")).containsText("Jeju");
        assertThat(customer.locator("dl.order")).containsText("Busan");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Busan");
    }

    @Test
    void a_page_that_can_not_renew_loses_its_lock_to_the_next_and_says_so() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        field(customer, "message").fill("typed on the train");
        customer.context().setOffline(true);
        awaitState(customer, "uncertain");

        Page operator = windowOf("operator");
        operator.waitForCondition(() -> lock(number).isEmpty());
        edit(operator, number);

        customer.context().setOffline(false);
        awaitState(customer, "lost");
        assertThat(field(customer, "message")).hasValue("typed on the train");
        assertThat(save(customer)).isDisabled();
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

            editButton(operator).click();
            assertThat(notice(operator)).hasText("customer is editing this.");
            operator.waitForCondition(() -> lock(number).isEmpty());
            editButton(operator).click(); // Try again
            awaitState(operator, "held");
        }
    }

    @Test
    void closing_the_tab_gives_the_order_free_within_seconds() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        Page other = customer.context().newPage(); // the profile stays open
        other.navigate("/orders");
        Instant end = endOfLock(number);
        customer.close(new Page.CloseOptions().setRunBeforeUnload(false));
        other.waitForCondition(() -> endOfLock(number).isBefore(end)); // no renewal does that
        other.waitForCondition(() -> lock(number).isEmpty());
        edit(other, number);
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
    void who_saves_after_the_lease_has_ended_saves_if_nobody_came_in_between() {
        String number = stage.newOrder();
        Page customer = windowOf("customer", new Browser.NewContextOptions().setJavaScriptEnabled(false));
        customer.navigate("/orders/" + number);
        editButton(customer).click();
        field(customer, "address").fill("Jeju");
        customer.waitForCondition(() -> lock(number).isEmpty());
        save(customer).click();
        assertThat(notice(customer)).containsText("Saved.");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Jeju");
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

    /** The order's page, as it was when nobody had the lock: only the click remains. */
    private static Page ready(Page page, String number) {
        page.navigate("/orders/" + number);
        assertThat(page.locator("[data-bitjang-client]").first()).not().hasValue("");
        return page;
    }

    private static Locator editButton(Page page) {
        return page.locator("form[action$='/edit'] button");
    }

    /** From a page that is ready. */
    private static void takeOver(Page page, String reason) {
        editButton(page).click();
        if (!reason.isEmpty()) {
            field(page, "reason").fill(reason);
        }
        page.click("#take-over");
        awaitState(page, "held");
    }

    private String sinceWhen(String number) {
        return DateTimeFormatter.ofPattern("HH:mm:ss")
                .format(lock(number).orElseThrow().acquiredAt().atZone(ZoneId.systemDefault()));
    }

    private Instant endOfLock(String number) {
        return stage.bean(LockAdmin.class)
                .find(LockName.of("order", number))
                .orElseThrow()
                .expiresAt();
    }
}
