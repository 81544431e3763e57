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
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Scene 6: locks now. What the database has a say in. */
abstract class LocksScene extends InShop {
    static final Pattern TIME = Pattern.compile("\\d\\d:\\d\\d:\\d\\d");

    @Test
    void session_locks_and_leases_of_this_node_are_shown_with_those_who_wait() throws InterruptedException {
        Locks locks = stage.bean(Locks.class);
        Page operator = open("/locks?state=held");
        Thread waits = new Thread(
                () -> locks.session(LockName.of("user", "waited-for")).run(Wait.upTo(Duration.ofMinutes(1)), () -> {}));
        try (SessionLock.Hold hold = locks.session(LockName.of("user", "waited-for"))
                        .tryAcquire()
                        .orElseThrow();
                Lease lease = locks.lease(LockName.of("job", "report")).acquire(Wait.none())) {
            waits.start();
            Locator session = row(operator, "user/waited-for");
            assertThat(session).containsText("session lock");
            assertThat(session).containsText("this process");
            assertThat(session.locator("td").nth(8)).hasText("1");
            assertThat(session.locator("a")).hasCount(0); // it can't be taken away
            assertThat(row(operator, "job/report")).containsText("lease");
            assertThat(row(operator, "job/report").locator("td").nth(5)).hasText("–"); // not known here
            assertThat(row(operator, "job/report").locator(".fence")).hasText(String.valueOf(lease.fence()));
        } finally {
            waits.join(30_000);
        }
        assertThat(row(operator, "user/waited-for")).hasCount(0);
        assertThat(row(operator, "job/report")).hasCount(0);
    }

    @Test
    void the_operator_takes_a_lock_away_with_a_reason_and_its_holder_is_told() {
        String number = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        field(customer, "message").fill("what I typed");
        Page operator = open("/locks");
        row(operator, "order/" + number).locator("a").click();
        assertThat(title(operator)).hasText("Take order/" + number + " away?");
        field(operator, "reason").evaluate("field => field.required = false");
        operator.locator("button.danger").click();
        assertThat(notice(operator)).containsText("Please say why");
        assertThat(lock(number)).isPresent();

        field(operator, "reason").fill("<b>gone home</b>");
        picture(operator, "release");
        operator.locator("button.danger").click();
        assertThat(notice(operator)).containsText("Taken away");
        assertThat(lock(number)).isEmpty();
        assertThat(trail(operator, number)).hasCount(1);
        assertThat(trail(operator, number))
                .hasText(Pattern.compile(".*taken away.*customer.*operator.*<b>gone home</b>.*"));

        wake(customer);
        awaitState(customer, "lost");
        assertThat(field(customer, "message")).hasValue("what I typed");
    }

    @Test
    void a_filter_narrows_the_list() {
        String number = stage.newOrder();
        String other = stage.newOrder();
        Page customer = edit(windowOf("customer"), number);
        edit(windowOf("operator"), other);
        Page page = open("/locks");
        field(page, "owner").fill("customer");
        page.locator(".filter button").click();
        assertThat(row(page, "order/" + number)).isVisible();
        assertThat(row(page, "order/" + other)).hasCount(0);
        field(page, "owner").fill("");
        field(page, "id").fill(other);
        page.locator(".filter button").click();
        assertThat(row(page, "order/" + other)).isVisible();
        assertThat(page.locator(".locks tbody tr")).hasCount(1);
        field(page, "id").fill("%' OR 1=1 --");
        page.locator(".filter button").click();
        assertThat(page.locator(".locks tbody")).hasText("No lock matches.");
        field(page, "id").fill(number);
        page.locator("[name=state]").selectOption("free");
        page.locator(".filter button").click();
        assertThat(page.locator(".locks tbody")).hasText("No lock matches.");
        save(customer).click(); // and while one looks, it is one of those
        assertThat(row(page, "order/" + number).locator("td").nth(2)).hasText("free");
    }

    @Test
    void a_lock_that_ran_out_is_shown_as_expired_and_the_trail_says_who_took_it_then() {
        String number = stage.newOrder();
        Page customer = windowOf("customer", new Browser.NewContextOptions().setJavaScriptEnabled(false));
        customer.navigate("/orders/" + number);
        customer.locator("form[action$='/edit'] button").click(); // and nobody renews
        assertThat(title(customer)).isVisible();
        stage.lapse(number);
        Page operator = open("/locks?state=expired&id=" + number);
        assertThat(row(operator, "order/" + number).locator("td").nth(2)).hasText("expired");
        assertThat(row(operator, "order/" + number).locator("a")).hasCount(0);
        edit(windowOf("operator"), number);
        assertThat(row(operator, "order/" + number)).hasCount(0);
        assertThat(trail(operator, number)).hasText(Pattern.compile(".*ran out, then taken.*customer.*operator.*"));
    }

    /** The page, with its stream of events: without one it would look again every two seconds. */
    Page open(String path) {
        Page page = windowOf("operator");
        Response stream =
                page.waitForResponse(response -> response.url().endsWith("/live/locks"), () -> page.navigate(path));
        assertThat(stream.status()).isEqualTo(200);
        assertThat(stream.headerValue("content-type")).startsWith("text/event-stream");
        return page;
    }

    static Locator trail(Page page, String number) {
        return page.locator(".audit tr:has-text('order/" + number + "')");
    }

    static Locator row(Page page, String name) {
        return page.locator("[data-lock='" + name + "']");
    }
}
