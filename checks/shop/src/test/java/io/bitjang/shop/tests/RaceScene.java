// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.bitjang.shop.orders.Slowness;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 3: operator against customer. What the database has a say in. */
abstract class RaceScene extends InShop {
    private static final Pattern WAITED = Pattern.compile("has it, after ([\\d,]+) ms");

    @Test
    void pessimistic_the_customer_waits_and_is_then_refused() {
        Locator lane = meet("pessimistic", moves -> {
            assertThat(moves.locator(".customer:has-text('asks for the row')")).isVisible();
            moves.page().waitForTimeout(700);
            assertThat(moves.locator(".customer:has-text('has it')")).hasCount(0);
        });
        assertThat(outcome(lane)).hasAttribute("data-outcome", "sound");
        assertThat(outcome(lane)).containsText("On its way, and the order agrees: 12 Sejong-daero, Seoul.");
        assertThat(lane.locator(".customer.refused")).containsText("the parcel is on its way");
        Matcher waited =
                WAITED.matcher(lane.locator(".customer:has-text('has it')").textContent());
        assertThat(waited.find()).isTrue();
        assertThat(Long.parseLong(waited.group(1).replace(",", ""))).isBetween(500L, 15_000L);
    }

    @Test
    void both_sides_can_be_played_from_one_window() {
        Page page = windowOf("customer", new Browser.NewContextOptions().setViewportSize(1280, 800));
        page.navigate("/race");
        List<String> lanes = List.of("unprotected", "pessimistic", "optimistic", "plain-line", "line");
        for (String lane : lanes) {
            String before = page.locator("#" + lane).getAttribute("data-number");
            page.locator("[data-play=" + lane + "]").click();
            assertThat(page.locator("#" + lane)).not().hasAttribute("data-number", before);
        }
        for (String lane : lanes) {
            boolean damaged = List.of("unprotected", "plain-line").contains(lane);
            assertThat(page.locator("#" + lane + " .customer").first()).isVisible();
            assertThat(outcome(page.locator("#" + lane))).hasAttribute("data-outcome", damaged ? "damaged" : "sound");
        }
        picture(page, "race");
    }

    /** They meet, and the customer is done before the operator goes on. */
    Locator meet(String lane) {
        return meet(lane, moves -> assertThat(moves.locator(".customer.done")).isVisible());
    }

    /**
     * The operator begins in one window; as soon as the other window shows that, the customer presses there. The operator goes on
     * when the customer's moves are as they should be then.
     */
    private Locator meet(String lane, Consumer<Locator> moved) {
        Page operator = windowOf("operator");
        Page customer = windowOf("customer");
        operator.navigate("/race");
        customer.navigate("/race");
        String before = customer.locator("#" + lane).getAttribute("data-number");
        operator.locator("[data-operator=" + lane + "]").click();
        assertThat(customer.locator("#" + lane)).not().hasAttribute("data-number", before);
        assertThat(customer.locator("#" + lane + " .operator:has-text('busy with the parcel')"))
                .isVisible();
        assertThat(outcome(customer.locator("#" + lane))).hasCount(0); // it is told while it happens
        customer.locator("[data-customer=" + lane + "]").click();
        moved.accept(customer.locator("#" + lane));
        stage.bean(Slowness.class).end();
        assertThat(outcome(operator.locator("#" + lane))).isVisible();
        assertThat(outcome(customer.locator("#" + lane))).isVisible();
        return customer.locator("#" + lane);
    }

    static long versionThatTheOperatorSaw(Locator lane) {
        return number(lane, ".operator:has-text('packs')", "packs 2, version (\\d+)");
    }

    static long versionAfterTheCustomer(Locator lane) {
        return number(lane, ".customer.done", "the order has version (\\d+)");
    }

    static long number(Locator lane, String where, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(lane.locator(where).textContent());
        assertThat(found.find()).as(lane.textContent()).isTrue();
        return Long.parseLong(found.group(1));
    }

    static Locator outcome(Locator lane) {
        return lane.locator("[data-outcome]");
    }
}
