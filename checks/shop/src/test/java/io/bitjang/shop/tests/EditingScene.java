// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.AuditEntry;
import io.bitjang.admin.LockAdmin;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 1: one edits, the other reads. What the database has a say in. */
abstract class EditingScene extends InShop {

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

        wake(customer);
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

        stage.lapse(number);
        edit(windowOf("operator"), number);

        customer.context().setOffline(false);
        awaitState(customer, "lost");
        assertThat(field(customer, "message")).hasValue("typed on the train");
        assertThat(save(customer)).isDisabled();
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
        assertThat(lock(number).map(LockData::remaining).orElse(Duration.ZERO)).isLessThan(Duration.ofSeconds(6));
        stage.lapse(number);
        edit(other, number);
    }

    @Test
    void who_saves_after_the_lease_has_ended_saves_if_nobody_came_in_between() {
        String number = stage.newOrder();
        Page customer = windowOf("customer", new Browser.NewContextOptions().setJavaScriptEnabled(false));
        customer.navigate("/orders/" + number);
        editButton(customer).click();
        field(customer, "address").fill("Jeju");
        stage.lapse(number);
        save(customer).click();
        assertThat(notice(customer)).containsText("Saved.");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Jeju");
    }

    /** The order's page, as it was when nobody had the lock: only the click remains. */
    static Page ready(Page page, String number) {
        page.navigate("/orders/" + number);
        assertThat(page.locator("[data-bitjang-client]").first()).not().hasValue("");
        return page;
    }

    static Locator editButton(Page page) {
        return page.locator("form[action$='/edit'] button");
    }

    /** From a page that is ready. */
    static void takeOver(Page page, String reason) {
        editButton(page).click();
        if (!reason.isEmpty()) {
            field(page, "reason").fill(reason);
        }
        page.click("#take-over");
        awaitState(page, "held");
    }

    String sinceWhen(String number) {
        return DateTimeFormatter.ofPattern("HH:mm:ss")
                .format(lock(number).orElseThrow().acquiredAt().atZone(ZoneId.systemDefault()));
    }

    Instant endOfLock(String number) {
        return stage.bean(LockAdmin.class)
                .find(LockName.of("order", number))
                .orElseThrow()
                .expiresAt();
    }
}
