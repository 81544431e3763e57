// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 6: locks now. */
@InShop.OnOne
class LocksTest extends LocksScene {
    @Test
    void a_lock_appears_while_one_looks_and_goes_when_it_is_given_back() {
        String number = stage.newOrder();
        Page operator = open("/locks?id=" + number);
        Page customer = edit(windowOf("customer"), number);
        Locator row = row(operator, "order/" + number);
        assertThat(row).containsText("edit lock");
        assertThat(row).containsText("customer");
        assertThat(row.locator("td").nth(4)).hasText(TIME);
        assertThat(row.locator("td").nth(5)).hasText(TIME);
        assertThat(row.locator("td").nth(6)).hasText(Pattern.compile("\\d+ s"));
        assertThat(row.locator(".fence"))
                .hasText(String.valueOf(lock(number).orElseThrow().fence()));
        String renewed = row.locator("td").nth(5).textContent();
        assertThat(row.locator("td").nth(5)).not().hasText(renewed); // the page renews it
        save(customer).click();
        assertThat(row).hasCount(0);
    }

    @Test
    void a_take_over_stands_in_the_trail() {
        String number = stage.newOrder();
        edit(windowOf("customer"), number);
        Page operator = pressEdit(windowOf("operator"), number);
        field(operator, "reason").fill("just so");
        operator.click("#take-over");
        awaitState(operator, "held");
        operator.navigate("/locks");
        assertThat(trail(operator, number)).hasText(Pattern.compile(".*taken over.*customer.*operator.*just so.*"));
    }

    @Test
    void a_lock_that_has_passed_on_is_not_taken_away_from_the_wrong_one() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        Page operator = open("/locks");
        row(operator, "order/" + number).locator("a").click();
        customer.reload();
        awaitState(customer, "held"); // the same tab, another grant
        field(operator, "reason").fill("too slow");
        operator.locator("button.danger").click();
        assertThat(notice(operator)).containsText("It has passed on to another holder");
        assertThat(lock(number)).isPresent();
        assertThat(operator.locator("button.danger")).hasCount(0); // that one would be refused for ever
        assertThat(operator.locator("a:has-text('Back to the locks')")).isVisible();
    }

    @Test
    void who_loads_a_page_again_leaves_nothing_in_the_trail() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        customer.reload();
        awaitState(customer, "held");
        Page second = pressEdit(customer.context().newPage(), number);
        second.click("#take-over");
        awaitState(second, "held");
        assertThat(trail(open("/locks"), number)).hasCount(0);
    }

    @Test
    void it_is_for_the_operator_only() {
        Page customer = windowOf("customer");
        for (String path : new String[] {"/locks", "/locks/live", "/locks/release?type=a&id=b&fence=1"}) {
            Response answer = customer.navigate(path);
            assertThat(answer.status()).as(path).isEqualTo(403);
            assertThat(title(customer)).hasText("You may not do that");
        }
        customer.navigate("/orders");
        assertThat(customer.locator("nav a:has-text('Locks now')")).hasCount(0);
        assertThat((Integer) customer.evaluate("fetch('/live/locks').then((answer) => answer.status)"))
                .isEqualTo(403);
    }

    @Test
    void picture_of_the_page() {
        Page operator = windowOf("operator", new Browser.NewContextOptions().setViewportSize(1280, 800));
        Page customer = edit(windowOf("customer"), "1003");
        Locks locks = stage.bean(Locks.class);
        try (SessionLock.Hold hold =
                        locks.session(LockName.of("user", "7")).tryAcquire().orElseThrow();
                Lease lease = locks.lease(LockName.of("job", "settlement-of-november"))
                        .acquire(Wait.none())) {
            operator.navigate("/locks");
            assertThat(operator.locator(".locks tbody tr")).not().hasCount(0);
            assertThat(row(operator, "user/7")).isVisible();
            picture(operator, "locks");
        }
        save(customer).click();
        assertThat(notice(customer)).containsText("Saved.");
    }
}
