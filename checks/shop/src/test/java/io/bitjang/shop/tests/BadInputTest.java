// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.FormData;
import com.microsoft.playwright.options.RequestOptions;
import org.junit.jupiter.api.Test;

/** Each a page that says what happened and what to do next. */
@InShop.OnOne
class BadInputTest extends InShop {

    @Test
    void an_order_that_is_not_there() {
        Page page = windowOf("customer");
        for (String path :
                new String[] {"/orders/4711", "/orders/4711/edit?tab=abcdefgh", "/shipping/4711", "/orders/<script>"}) {
            Response answer = page.navigate(path);
            assertThat(answer.status()).as(path).isEqualTo(404);
            assertThat(title(page)).hasText("There is no such order or page");
            assertThat(page.locator("main")).containsText("Choose an order from the list.");
        }
        picture(page, "error-404");
    }

    @Test
    void a_negative_quantity_and_one_that_is_no_number() {
        String number = stage.newOrder();
        Page page = edit(windowOf("customer"), number);
        field(page, "lines[0].quantity").fill("-3");
        field(page, "message").fill("kept");
        Response answer = page.waitForResponse(
                response -> response.request().method().equals("POST")
                        && response.url().endsWith("/orders/" + number),
                () -> save(page).click());
        assertThat(answer.status()).isEqualTo(422);
        assertThat(notice(page)).containsText("Not saved yet");
        assertThat(page.locator(".wrong:visible")).hasText("A whole number from 1 to 9999.".replace("9999", "9,999"));
        assertThat(field(page, "message")).hasValue("kept");
        awaitState(page, "held"); // the lock stays
        assertThat(stage.order(number).getVersion()).isZero();
        picture(page, "edit-wrong");

        field(page, "lines[0].quantity").evaluate("field => { field.type = 'text'; field.value = 'many'; }");
        save(page).click();
        assertThat(page.locator(".wrong:visible")).hasText("A whole number, please.");
        field(page, "lines[0].quantity").fill("4");
        save(page).click();
        assertThat(notice(page)).containsText("Saved.");
        assertThat(stage.order(number).getLines().get(0).getQuantity()).isEqualTo(4);
        assertThat(stage.order(number).getVersion()).isEqualTo(1);
    }

    @Test
    void a_form_that_is_posted_twice() {
        String number = stage.newOrder();
        Page page = edit(windowOf("customer"), number);
        field(page, "address").fill("Jeju");
        String form = (String) page.evaluate(
                "new URLSearchParams(new FormData(document.querySelector('form[data-bitjang-edit-lock]'))).toString()");
        save(page).click();
        assertThat(notice(page)).containsText("Saved.");
        page.evaluate("""
                ([action, data]) => {
                  const form = document.createElement('form');
                  form.method = 'post';
                  form.action = action;
                  for (const [name, value] of new URLSearchParams(data)) {
                    form.append(Object.assign(document.createElement('input'), { name, value, type: 'hidden' }));
                  }
                  document.body.append(form);
                  form.submit();
                }""", new Object[] {"/orders/" + number, form});
        assertThat(title(page)).hasText("This was saved already");
        assertThat(stage.order(number).getVersion()).isEqualTo(1);
    }

    @Test
    void a_script_in_a_note_is_text() {
        String number = stage.newOrder();
        String script = "<script>window.broken = true</script><img src=x onerror='window.broken = true'>";
        Page page = edit(windowOf("customer"), number);
        field(page, "message").fill(script);
        save(page).click();
        assertThat(page.locator("dl.order")).containsText(script);
        edit(page, number);
        assertThat(field(page, "message")).hasValue(script);
        assertThat(page.evaluate("window.broken")).isNull();
    }

    @Test
    void a_session_that_ended_in_mid_edit() {
        String number = stage.newOrder();
        // a profile of its own: the others share their sign-in
        Page page = windowOfStranger(new Browser.NewContextOptions());
        ShopStage.signIn(page, "customer");
        edit(page, number);
        field(page, "message").fill("an hour of work");
        page.route("**/bitjang/edit-locks/**", Route::abort); // no renewal finds out before the save does
        page.context().clearCookies();
        save(page).click();
        assertThat(title(page)).hasText("You are signed out");
        assertThat(page.locator("dl.typed")).containsText("an hour of work");
        assertThat(page.locator("dl.order")).hasCount(0); // what is stored is nobody's business who is not signed in
        assertThat(page.locator("dl.typed div:has-text('Tea bowl') dd")).hasText("2");
        assertThat(page.locator("form[action$='/edit']")).hasCount(0);
        picture(page, "signed-out");
        assertThat(stage.order(number).getVersion()).isZero();

        page.unroute("**/bitjang/edit-locks/**");
        page.locator("main a:has-text('Sign in')").click();
        page.locator("button:has-text('I am the customer')").click();
        page.waitForURL("**/");
        edit(page, number);
        page.locator("[data-bitjang-action=restore]").click();
        assertThat(field(page, "message")).hasValue("an hour of work");
    }

    @Test
    void what_makes_no_sense_is_a_page_and_no_stack_trace() {
        Page page = windowOf("customer");
        for (String path :
                new String[] {"/orders/1001/edit?tab=x", "/live/nothing", "/startShipping", "/cards/none", "/locks"}) {
            Response answer = page.navigate(path);
            assertThat(answer.status()).as(path).isBetween(400, 499);
            assertThat(page.content()).as(path).doesNotContain("Exception").doesNotContain("Whitelabel");
            assertThat(page.locator("main")).containsText("Nothing was ");
        }
    }

    @Test
    void who_is_not_signed_in_sees_no_order_whatever_they_ask_for() {
        Page page = windowOfStranger(new Browser.NewContextOptions());
        page.navigate("/");
        for (String accept : new String[] {"application/json", "text/html", "*/*"}) {
            String answer = page.request()
                    .post(
                            "/orders/1001",
                            RequestOptions.create()
                                    .setHeader("Accept", accept)
                                    .setForm(FormData.create().set("address", "x")))
                    .text();
            assertThat(answer).as(accept).doesNotContain("Minji").doesNotContain("Sejong");
        }
        assertThat(page.navigate("/orders/1001").url()).endsWith("/login");
    }

    @Test
    void what_the_operator_does_is_refused_to_the_customer() {
        Page page = windowOf("customer");
        page.navigate("/orders");
        String token = page.locator("meta[name=_csrf]").getAttribute("content");
        for (String path : new String[] {
            "/startShipping?orderNumber=2001&version=0",
            "/shipping/2001/again",
            "/race/unprotected/operator",
            "/nodes/act/start",
            "/nodes/act/kill?pid=1",
            "/locks/release?type=order&id=1001&fence=1&reason=x"
        }) {
            int status = page.request()
                    .post(
                            path,
                            RequestOptions.create().setForm(FormData.create().set("_csrf", token)))
                    .status();
            assertThat(status).as(path).isEqualTo(403);
            assertThat(page.request().post(path).status())
                    .as("%s without a token", path)
                    .isEqualTo(403);
        }
    }

    @Test
    void an_order_on_its_way_and_lines_without_end_can_not_be_saved() {
        String number = stage.newOrder();
        Page page = edit(windowOf("customer"), number);
        stage.ship(number);
        page.locator("[name=version]").evaluate("field => field.value = '1'");
        save(page).click();
        assertThat(title(page)).hasText("That can’t be done any more");
        assertThat(page.locator("dl.typed")).containsText("Ring twice.");

        String other = stage.newOrder();
        edit(page, other);
        page.locator("[name='lines[0].id']").evaluate("field => field.name = 'lines[500].id'");
        save(page).click();
        assertThat(title(page)).hasText("This request can’t be understood");
    }

    @Test
    void a_session_that_ended_before_another_form_was_sent_says_that_only_this_page_has_the_text() {
        String number = stage.newOrder();
        Page page = windowOfStranger(new Browser.NewContextOptions());
        ShopStage.signIn(page, "customer");
        page.navigate("/shipping/" + number);
        field(page, "address").fill("kept here");
        page.context().clearCookies();
        page.locator("form[action='/changeShipping'] button").click();
        assertThat(title(page)).hasText("You are signed out");
        assertThat(page.locator("main")).containsText("Copy it from here");
        assertThat(page.locator("dl.typed dd")).hasText(new String[] {"Kim", "kept here", "Ring twice."});
    }

    @Test
    void a_take_over_that_is_sent_twice_or_without_a_reason() {
        String number = stage.newOrder();
        edit(windowOf("customer"), number);
        Page operator = pressEdit(windowOf("operator"), number);
        String token = operator.locator("meta[name=_csrf]").getAttribute("content");
        String fence = String.valueOf(lock(number).orElseThrow().fence());
        for (String reason : new String[] {" ", "nul \u0000", "x".repeat(2_000)}) {
            assertThat(takeOver(operator, number, token, fence, reason).status())
                    .isEqualTo(400);
        }
        assertThat(lock(number).orElseThrow().owner()).isEqualTo("customer");
        for (int i = 0; i < 2; i++) {
            APIResponse answer = takeOver(operator, number, token, fence, "urgent");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.url()).contains("/orders/" + number + "/edit?tab=");
        }
        assertThat(lock(number).orElseThrow().owner()).isEqualTo("operator");
    }

    private static APIResponse takeOver(Page page, String number, String token, String fence, String reason) {
        return page.request()
                .post(
                        "/orders/" + number + "/takeover",
                        RequestOptions.create()
                                .setForm(FormData.create()
                                        .set("_csrf", token)
                                        .set("expectedFence", fence)
                                        .set("clientId", "abcdefgh-ijkl-mnop")
                                        .set("reason", reason)));
    }

    @Test
    void a_note_with_many_lines_is_as_long_as_the_browser_counts_it() {
        String number = stage.newOrder();
        Page page = edit(windowOf("customer"), number);
        String note = "line\n".repeat(200).strip(); // 999 characters, and 199 more with the line breaks of HTTP
        field(page, "message").fill(note);
        save(page).click();
        assertThat(notice(page)).containsText("Saved.");
        assertThat(stage.order(number).getShippingInfo().message()).isEqualTo(note);
    }

    @Test
    void a_version_that_is_none() {
        String number = stage.newOrder();
        Page page = windowOf("customer");
        page.navigate("/shipping/" + number);
        page.locator("form[action='/changeShipping'] [name=version]").evaluate("field => field.value = 'seven'");
        field(page, "address").fill("kept here");
        page.locator("form[action='/changeShipping'] button").click();
        assertThat(title(page)).hasText("This request can’t be understood");
        assertThat(page.locator("dl.typed")).containsText("kept here");
    }
}
