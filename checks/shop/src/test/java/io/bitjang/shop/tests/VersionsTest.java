// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import io.bitjang.shop.orders.OrderState;
import io.bitjang.shop.versions.Slowness;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 2: the version of a form. */
@InShop.OnEach
class VersionsTest extends InShop {

    @Test
    void someone_saved_before_you() {
        String number = stage.newOrder();
        Page customer = open("customer", number);
        Page operator = open("operator", number);
        address(operator).fill("Busan");
        change(operator).click();
        assertThat(notice(operator)).hasText("The address was changed.");

        address(customer).fill("Jeju");
        field(customer, "message").fill("typed with care");
        Response answer = customer.waitForResponse(
                Pattern.compile(".*/changeShipping"), () -> change(customer).click());
        assertThat(answer.status()).isEqualTo(412);
        assertThat(title(customer)).hasText("Someone saved before you");
        assertThat(address(customer)).hasValue("Jeju");
        assertThat(field(customer, "message")).hasValue("typed with care");
        assertThat(stored(customer)).containsText("Busan");
        assertThat(stored(customer)).containsText("operator");
        picture(customer, "conflict-before");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Busan");

        customer.locator("button:has-text('Save mine over it')").click();
        assertThat(notice(customer)).hasText("The address was changed.");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Jeju");
        assertThat(stage.order(number).getVersion()).isEqualTo(2);
    }

    @Test
    void someone_is_saving_right_now() {
        String number = stage.newOrder();
        Page customer = open("customer", number);
        Page operator = open("operator", number);
        address(customer).fill("Jeju");
        address(operator).fill("Busan");
        slowly(customer).check();
        slowly(operator).check();
        clickWithoutWaiting(change(operator));
        clickWithoutWaiting(change(customer));
        awaitPausing(customer, 2); // both have read before either commits

        customer.waitForCondition(() -> stage.order(number).getVersion() == 1);
        boolean operatorWon = "operator".equals(stage.order(number).getChangedBy());
        Page winner = operatorWon ? operator : customer;
        Page loser = operatorWon ? customer : operator;
        assertThat(notice(winner)).hasText("The address was changed.");
        assertThat(title(loser)).hasText("Someone is saving right now");
        assertThat(address(loser)).hasValue(operatorWon ? "Jeju" : "Busan");
        assertThat(stored(loser)).containsText(operatorWon ? "Busan" : "Jeju");
        picture(loser, "conflict-now");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo(operatorWon ? "Busan" : "Jeju");
        assertThat(stage.order(number).getVersion()).isEqualTo(1);
    }

    @Test
    void someone_is_saving_right_now_while_the_shipping_starts() {
        String number = stage.newOrder();
        Page customer = open("customer", number);
        Page operator = open("operator", number);
        operator.locator("form[action='/startShipping'] [name=slowly]").check();
        clickWithoutWaiting(start(operator));
        awaitPausing(operator, 1); // it has read
        address(customer).fill("Jeju");
        change(customer).click();
        assertThat(notice(customer)).hasText("The address was changed.");

        assertThat(title(operator)).hasText("Someone is saving right now");
        assertThat(notice(operator)).containsText("The shipping was not started.");
        assertThat(stored(operator).first()).containsText("Seoul"); // what the page showed
        assertThat(stored(operator).last()).containsText("Jeju");
        assertThat(stage.order(number).getState()).isEqualTo(OrderState.PREPARING);
    }

    @Test
    void shipping_that_is_started_twice_is_started_once() {
        String number = stage.newOrder();
        Page first = open("operator", number);
        Page again = open("operator", number);
        start(first).click();
        assertThat(notice(first)).hasText("The parcel is on its way.");
        start(again).click();
        assertThat(title(again)).hasText("This was saved already");
        assertThat(notice(again)).containsText("The shipping was started once");
        assertThat(stage.order(number).getVersion()).isEqualTo(1);
    }

    @Test
    void an_order_that_is_edited_under_a_lock_elsewhere_can_not_be_changed_here() {
        Page page = open("operator", "2001");
        for (String form : new String[] {"/changeShipping", "/startShipping"}) {
            page.navigate("/shipping/2001");
            page.locator("form[action='" + form + "'] [name=number], form[action='" + form + "'] [name=orderNumber]")
                    .evaluate("field => field.value = '1001'");
            page.locator("form[action='" + form + "'] button").click();
            assertThat(title(page)).hasText("There is no such order or page");
        }
        assertThat(page.navigate("/shipping/1001").status()).isEqualTo(404);
        assertThat(page.navigate("/orders/2001").status()).isEqualTo(404);
        assertThat(stage.order("1001").getState()).isEqualTo(OrderState.PREPARING);
    }

    @Test
    void shipping_does_not_start_for_an_order_that_is_not_as_the_page_showed_it() {
        String number = stage.newOrder();
        Page operator = open("operator", number);
        Page customer = open("customer", number);
        address(customer).fill("Jeju");
        change(customer).click();
        assertThat(notice(customer)).hasText("The address was changed.");

        start(operator).click();
        assertThat(title(operator)).hasText("Someone saved before you");
        assertThat(stored(operator).first()).containsText("Seoul"); // what the page showed
        assertThat(stored(operator).last()).containsText("Jeju");
        assertThat(stage.order(number).getState()).isEqualTo(OrderState.PREPARING);

        operator.locator("a:has-text('To the order as it is now')").click();
        start(operator).click();
        assertThat(notice(operator)).hasText("The parcel is on its way.");
        assertThat(stage.order(number).getLabel()).isEqualTo("Jeju");
    }

    @Test
    void an_order_on_its_way_is_not_changed_until_the_parcel_is_taken_back() {
        String number = stage.newOrder();
        Page customer = open("customer", number);
        start(open("operator", number)).click();
        customer.waitForCondition(() -> stage.order(number).getState() == OrderState.SHIPPED);
        customer.reload();
        address(customer).fill("Jeju");
        change(customer).click();
        assertThat(title(customer)).hasText("The parcel is on its way");
        assertThat(customer.locator("main")).containsText("Jeju");
        assertThat(change(customer)).hasCount(0);
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Seoul");

        picture(customer, "conflict-shipped");
        customer.locator("a:has-text('To the order as it is now')").click();
        assertThat(customer.locator("button:has-text('Take the parcel back')")).hasCount(0);

        Page operator = open("operator", number);
        operator.locator("button:has-text('Take the parcel back')").click();
        assertThat(start(operator)).isVisible();
        assertThat(stage.order(number).getState()).isEqualTo(OrderState.PREPARING);
        assertThat(stage.order(number).getLines().get(0).getQuantity()).isEqualTo(2);
    }

    @Test
    void a_form_that_is_sent_twice_is_saved_once() {
        String number = stage.newOrder();
        Page page = open("customer", number);
        address(page).fill("Jeju");
        change(page).click();
        assertThat(notice(page)).hasText("The address was changed.");
        Page again = open("customer", number);
        // what the first one sent, once more
        again.locator("form[action='/changeShipping'] [name=version]").evaluate("field => field.value = '0'");
        address(again).fill("Jeju");
        change(again).click();
        assertThat(title(again)).hasText("This was saved already");
        picture(again, "conflict-twice");
        assertThat(stage.order(number).getVersion()).isEqualTo(1);
    }

    @Test
    void an_empty_address_is_not_saved_and_nothing_typed_is_lost() {
        String number = stage.newOrder();
        Page page = open("customer", number);
        address(page).fill("  ");
        field(page, "message").fill("still here");
        change(page).click();
        assertThat(notice(page)).containsText("Receiver and address can’t be empty");
        assertThat(field(page, "message")).hasValue("still here");
        picture(open("operator", "2001"), "shipping");
        assertThat(stage.order(number).getVersion()).isZero();
    }

    private Page open(String person, String number) {
        Page page = windowOf(person);
        page.navigate("/shipping/" + number);
        return page;
    }

    private static Locator address(Page page) {
        return field(page, "address");
    }

    private static Locator stored(Page page) {
        return page.locator("dl.order");
    }

    private static Locator change(Page page) {
        return page.locator("form[action='/changeShipping'] button");
    }

    private static Locator start(Page page) {
        return page.locator("form[action='/startShipping'] button");
    }

    /** Returns as soon as the form is on its way. */
    private static void clickWithoutWaiting(Locator button) {
        button.page()
                .waitForRequest(
                        Pattern.compile(".*Shipping"),
                        () -> button.evaluate("button => { setTimeout(() => button.click()); }"));
    }

    private void awaitPausing(Page page, int saves) {
        page.waitForCondition(() -> stage.bean(Slowness.class).pausing() == saves);
    }

    private static Locator slowly(Page page) {
        return page.locator("form[action='/changeShipping'] [name=slowly]");
    }
}
