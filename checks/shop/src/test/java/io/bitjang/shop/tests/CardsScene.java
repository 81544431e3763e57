// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Test;

/** Scene 4: two cards, twenty requests. What the database has a say in. */
abstract class CardsScene extends InShop {

    @Test
    void without_a_lock_there_are_more_than_two_cards() {
        Page page = windowOf("customer");
        int cards = 0;
        for (int i = 0; i < 5 && cards <= 2; i++) { // how many meet is up to the machine
            cards = cards(fire(page, "none"));
        }
        assertThat(cards).isGreaterThan(2);
    }

    @Test
    void with_the_first_version_that_people_write_there_are_more_than_two_and_callers_get_errors() {
        Page page = windowOf("customer");
        int most = 0;
        boolean failed = false;
        for (int i = 0; i < 5 && !failed; i++) { // who gets which connection is up to the pool
            Locator lane = fire(page, "seed");
            most = Math.max(most, cards(lane));
            failed = most > 2 && lane.textContent().contains("callers were told that something failed");
        }
        assertThat(most).isGreaterThan(2);
        assertThat(failed).isTrue();
    }

    @Test
    void with_bitjang_there_are_two_and_everybody_gets_a_clear_answer() {
        Page page = windowOf("customer");
        for (int i = 0; i < 2; i++) {
            Locator lane = fire(page, "bitjang");
            assertThat(cards(lane)).isEqualTo(2);
            assertThat(lane.locator(".cells .added")).hasCount(2);
            assertThat(lane.locator(".cells .full")).hasCount(18);
            assertThat(lane).containsText("Looking at the cards at the same time: at most 1.");
            assertThat(lane).containsText("Every request got a clear answer.");
        }
    }

    static Locator fire(Page page, String way) {
        page.navigate("/cards");
        Locator lane = page.locator("#" + way);
        String before = lane.getAttribute("data-number");
        page.locator("[data-fire=" + way + "]").click();
        assertThat(lane).not().hasAttribute("data-number", before);
        assertThat(lane.locator("[data-over=true]")).hasCount(1);
        assertThat(lane.locator(".cells .waiting, .cells .inside")).hasCount(0);
        return lane;
    }

    static int cards(Locator lane) {
        return Integer.parseInt(lane.locator("[data-cards]").getAttribute("data-cards"));
    }
}
