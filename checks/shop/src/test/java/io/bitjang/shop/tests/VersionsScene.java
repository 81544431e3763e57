// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import io.bitjang.shop.orders.OrderState;
import io.bitjang.shop.orders.Slowness;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 2: the version of a form. What the database has a say in. */
abstract class VersionsScene extends InShop {

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
        stage.bean(Slowness.class).end();

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
        stage.bean(Slowness.class).end();

        assertThat(title(operator)).hasText("Someone is saving right now");
        assertThat(notice(operator)).containsText("The shipping was not started.");
        assertThat(stored(operator).first()).containsText("Seoul"); // what the page showed
        assertThat(stored(operator).last()).containsText("Jeju");
        assertThat(stage.order(number).getState()).isEqualTo(OrderState.PREPARING);
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

    Page open(String person, String number) {
        Page page = windowOf(person);
        page.navigate("/shipping/" + number);
        return page;
    }

    static Locator address(Page page) {
        return field(page, "address");
    }

    static Locator stored(Page page) {
        return page.locator("dl.order");
    }

    static Locator change(Page page) {
        return page.locator("form[action='/changeShipping'] button");
    }

    static Locator start(Page page) {
        return page.locator("form[action='/startShipping'] button");
    }

    /** Returns as soon as the form is on its way. */
    static void clickWithoutWaiting(Locator button) {
        button.page()
                .waitForRequest(
                        Pattern.compile(".*Shipping"),
                        () -> button.evaluate("button => { setTimeout(() => button.click()); }"));
    }

    void awaitPausing(Page page, int saves) {
        page.waitForCondition(() -> stage.bean(Slowness.class).pausing() == saves);
    }

    static Locator slowly(Page page) {
        return page.locator("form[action='/changeShipping'] [name=slowly]");
    }
}
