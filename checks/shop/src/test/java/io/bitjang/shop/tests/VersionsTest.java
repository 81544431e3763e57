// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import io.bitjang.shop.orders.OrderState;
import org.junit.jupiter.api.Test;

/** Scene 2: the version of a form. */
@InShop.OnOne
class VersionsTest extends VersionsScene {
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
}
