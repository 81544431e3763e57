// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 3: operator against customer, in two windows. */
@InShop.OnEach
class RaceTest extends InShop {
    private static final Pattern WAITED = Pattern.compile("has it, after ([\\d,]+) ms");

    @Test
    void unprotected_both_succeed_and_the_parcel_goes_to_the_old_address() {
        Locator lane = meet("unprotected");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "damaged");
        assertThat(outcome(lane))
                .containsText("The label says 12 Sejong-daero, Seoul. The order says 3 Chilseong-ro, Jeju.");
        assertThat(lane.locator(".refused")).hasCount(0);
    }

    @Test
    void pessimistic_the_customer_waits_and_is_then_refused() {
        Locator lane = meet("pessimistic");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "sound");
        assertThat(outcome(lane)).containsText("On its way, and the order agrees: 12 Sejong-daero, Seoul.");
        assertThat(lane.locator(".customer.refused")).containsText("the parcel is on its way");
        Matcher waited =
                WAITED.matcher(lane.locator(".customer:has-text('has it')").textContent());
        assertThat(waited.find()).isTrue();
        // the operator takes 6 s, and the customer came a moment after
        assertThat(Long.parseLong(waited.group(1).replace(",", ""))).isBetween(500L, 15_000L);
    }

    @Test
    void optimistic_the_operator_is_refused_at_the_commit() {
        Locator lane = meet("optimistic");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "sound");
        assertThat(outcome(lane)).containsText("Changed, and not yet sent: 3 Chilseong-ro, Jeju.");
        assertThat(lane.locator(".operator.refused")).containsText("ObjectOptimisticLockingFailureException");
    }

    @Test
    void a_line_alone_does_not_move_the_version_of_plain_jpa_and_two_are_sent_where_five_are_wanted() {
        Locator lane = meet("plain-line");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "damaged");
        assertThat(outcome(lane)).containsText("2 are in the parcel. The order says 5.");
        assertThat(versionAfterTheCustomer(lane)).isEqualTo(versionThatTheOperatorSaw(lane));
    }

    @Test
    void a_line_alone_moves_the_version_with_part_of_and_the_operator_is_refused() {
        Locator lane = meet("line");
        assertThat(outcome(lane)).hasAttribute("data-outcome", "sound");
        assertThat(outcome(lane)).containsText("Changed, and not yet sent: 5.");
        assertThat(versionAfterTheCustomer(lane)).isEqualTo(versionThatTheOperatorSaw(lane) + 1);
        Matcher versions = Pattern.compile("Version (\\d+) at the beginning, (\\d+) now")
                .matcher(outcome(lane).textContent());
        assertThat(versions.find()).isTrue();
        assertThat(Long.parseLong(versions.group(2))).isEqualTo(Long.parseLong(versions.group(1)) + 1);
        assertThat(lane.locator(".operator.refused")).containsText("ObjectOptimisticLockingFailureException");
    }

    @Test
    void both_sides_can_be_played_from_one_window() {
        Page page = windowOf("customer", new Browser.NewContextOptions().setViewportSize(1280, 800));
        page.navigate("/race");
        for (String lane : List.of("unprotected", "pessimistic", "optimistic", "plain-line", "line")) {
            String before = page.locator("#" + lane).getAttribute("data-number");
            page.locator("[data-play=" + lane + "]").click();
            assertThat(page.locator("#" + lane)).not().hasAttribute("data-number", before);
            boolean damaged = List.of("unprotected", "plain-line").contains(lane);
            assertThat(page.locator("#" + lane + " .customer").first()).isVisible();
            assertThat(outcome(page.locator("#" + lane))).hasAttribute("data-outcome", damaged ? "damaged" : "sound");
        }
        picture(page, "race");
    }

    /** The operator begins in one window; as soon as the other window shows that, the customer presses there. */
    private Locator meet(String lane) {
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
        assertThat(outcome(operator.locator("#" + lane))).isVisible();
        assertThat(outcome(customer.locator("#" + lane))).isVisible();
        return customer.locator("#" + lane);
    }

    private static long versionThatTheOperatorSaw(Locator lane) {
        return number(lane, ".operator:has-text('packs')", "packs 2, version (\\d+)");
    }

    private static long versionAfterTheCustomer(Locator lane) {
        return number(lane, ".customer.done", "the order has version (\\d+)");
    }

    private static long number(Locator lane, String where, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(lane.locator(where).textContent());
        assertThat(found.find()).as(lane.textContent()).isTrue();
        return Long.parseLong(found.group(1));
    }

    private static Locator outcome(Locator lane) {
        return lane.locator("[data-outcome]");
    }
}
