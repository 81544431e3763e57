// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Scene 4: two cards, twenty requests. */
@InShop.OnOne
class CardsTest extends CardsScene {
    @Test
    void it_is_drawn_as_it_happens_in_every_window() {
        Page one = windowOf("customer", new Browser.NewContextOptions().setViewportSize(1280, 800));
        Page other = windowOf("operator");
        other.navigate("/cards");
        other.evaluate("""
                () => {
                  window.seen = new Set();
                  const look = () => seen.add(document.querySelectorAll('#bitjang .cells .full, #bitjang .cells .added').length);
                  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
                }""");
        for (String way : List.of("none", "seed", "bitjang")) {
            fire(one, way);
        }
        picture(one, "cards");
        assertThat(other.locator("#bitjang .cells .full")).hasCount(18);
        // a browser that stood still has seen the end only; of a page that draws nothing but the end, it sees no more
        // in any run
        for (int i = 0; i < 5 && drawn(other) <= 2; i++) {
            fire(one, "bitjang");
            assertThat(other.locator("#bitjang .cells .full")).hasCount(18);
        }
        assertThat(drawn(other)).as("how many steps were drawn").isGreaterThan(2);
    }

    private static int drawn(Page page) {
        return (Integer) page.evaluate("seen.size");
    }
}
