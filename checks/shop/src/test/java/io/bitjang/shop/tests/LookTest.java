// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What all pages have in common: they fit, they don't jump, they can be used by keyboard, and they speak two languages. */
@InShop.OnOne
class LookTest extends InShop {
    private static final List<String> PAGES = List.of(
            "/", "/orders", "/orders/1001", "/shipping", "/shipping/2001", "/race", "/cards", "/nodes", "/locks");

    private static final List<String> LIVE = List.of("/race", "/cards", "/nodes", "/locks");

    private static final String SHIFTS = """
            window.shifts = 0;
            new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shifts += entry.value; }))
                .observe({ type: 'layout-shift', buffered: true });
            """;

    @Test
    void every_page_fits_a_telephone() {
        String number = stage.newOrder();
        stage.move(number, "긴주소".repeat(60)); // one word
        for (String language : List.of("en-US", "ko-KR")) {
            Page page = windowOf("operator", new Browser.NewContextOptions().setLocale(language));
            for (String path : PAGES) {
                page.navigate(path.replace("1001", number));
                assertFits(page);
                assertThat(page.locator("h1")).hasCount(1);
            }
            for (String path : List.of("/cards", "/race")) {
                page.navigate(path);
                page.evaluate(
                        "document.querySelectorAll('.outcome p, .code').forEach((e) => { e.textContent = 'x'.repeat(300); })");
                assertFits(page); // whatever a database has to say
            }
        }
    }

    @Test
    void every_scene_says_what_to_try_and_what_one_will_see_in_both_languages() {
        for (String language : List.of("en-US", "ko-KR")) {
            Page page = windowOf("operator", new Browser.NewContextOptions().setLocale(language));
            for (String path : List.of("/orders", "/shipping", "/race", "/cards", "/nodes", "/locks")) {
                page.navigate(path);
                Pattern sentence = Pattern.compile(language.equals("ko-KR") ? "[가-힣].*\\." : "[A-Z].*\\.");
                assertThat(page.locator(".try")).hasText(sentence);
                assertThat(page.locator(".see")).hasText(sentence);
            }
        }
    }

    @Test
    void in_the_dark_pages_are_dark_and_their_text_is_light() {
        Page page = windowOf("operator", new Browser.NewContextOptions().setColorScheme(ColorScheme.DARK));
        for (String path : PAGES) {
            page.navigate(path);
            assertThat(brightness(page, "backgroundColor")).as(path).isLessThan(0.3);
            assertThat(brightness(page, "color")).as(path).isGreaterThan(0.6);
        }
    }

    private static double brightness(Page page, String what) {
        return ((Number) page.evaluate("""
                (what) => {
                  const canvas = document.createElement('canvas').getContext('2d');
                  canvas.fillStyle = getComputedStyle(document.body)[what];
                  canvas.fillRect(0, 0, 1, 1);
                  const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
                  return (r + g + b) / 765;
                }""", what)).doubleValue();
    }

    @Test
    void no_page_jumps_while_it_loads() {
        Page page = windowOf("operator", new Browser.NewContextOptions().setViewportSize(1280, 800));
        page.context().addInitScript(SHIFTS);
        page.navigate("/");
        assertThat(page.evaluate("PerformanceObserver.supportedEntryTypes.includes('layout-shift')"))
                .isEqualTo(true);
        for (String path : PAGES) {
            Runnable open = () -> page.navigate(path);
            if (LIVE.contains(path)) { // with the first answer of what is live
                page.waitForResponse(answer -> answer.url().contains(path + "/live"), open);
            } else {
                open.run();
            }
            page.waitForTimeout(150);
            assertThat(((Number) page.evaluate("window.shifts")).doubleValue())
                    .as("layout shift of %s", path)
                    .isLessThan(0.02);
        }
        edit(page, stage.newOrder());
        assertThat(((Number) page.evaluate("window.shifts")).doubleValue())
                .as("the editor")
                .isLessThan(0.02);
    }

    @Test
    void every_field_and_button_has_a_name() {
        Page page = windowOf("operator");
        for (String path : PAGES) {
            page.navigate(path);
            assertNamed(page);
        }
        String number = stage.newOrder();
        assertNamed(edit(windowOf("customer"), number));
        assertNamed(pressEdit(page, number)); // someone else is editing
        page.navigate("/locks?id=" + number);
        page.locator("[data-lock='order/" + number + "'] a").click();
        assertNamed(page);
        Page stranger = windowOfStranger(new Browser.NewContextOptions());
        stranger.navigate("/login");
        assertNamed(stranger);
    }

    private static void assertNamed(Page page) {
        Object nameless = page.evaluate("""
                [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a')]
                  .filter((e) => !(e.ariaLabel || (e.matches('button, a') && e.textContent.trim()) ||
                      [...(e.labels ?? [])].some((l) => [...l.childNodes].some((n) => n !== e && n.textContent.trim()))))
                  .map((e) => e.outerHTML)""");
        assertThat((List<?>) nameless).as(page.url()).isEmpty();
    }

    @Test
    void an_order_can_be_edited_by_keyboard_alone() {
        String number = stage.newOrder();
        Page page = windowOf("customer");
        page.navigate("/orders/" + number);
        assertThat(page.locator("[data-bitjang-client]").first()).not().hasValue("");
        page.keyboard().press("Tab");
        assertThat(page.locator(".skip")).isFocused();
        page.keyboard().press("Enter");
        page.keyboard().press("Tab");
        assertThat(page.locator("main form button")).isFocused();
        page.keyboard().press("Enter");
        awaitState(page, "held");
        for (int i = 0; i < 40 && !isFocused(field(page, "address")); i++) {
            page.keyboard().press("Tab");
        }
        assertThat(field(page, "address")).isFocused();
        page.keyboard().press("Control+A");
        page.keyboard().type("Jeju");
        page.keyboard().press("Enter");
        assertThat(notice(page)).containsText("Saved");
        assertThat(stage.order(number).getShippingInfo().address()).isEqualTo("Jeju");
    }

    private static boolean isFocused(Locator field) {
        return (Boolean) field.evaluate("field => field === document.activeElement");
    }

    @Test
    void pages_are_english_or_korean_as_the_browser_wants_or_the_person() {
        Page korean = windowOfStranger(new Browser.NewContextOptions().setLocale("ko-KR"));
        korean.navigate("/");
        assertThat(title(korean)).hasText("창 두 개로 보는, 잠금이 어려운 이유");
        assertThat(korean.locator("html")).hasAttribute("lang", "ko");
        korean.click(".language");
        assertThat(title(korean)).hasText("Why locking is hard, in two windows");
        korean.navigate("/login");
        assertThat(title(korean)).hasText("Sign in");
        korean.navigate("/?lang=<script>");
        assertThat(title(korean)).hasText("Why locking is hard, in two windows");
    }

    @Test
    void pictures_of_the_way_in() {
        Page page = windowOfStranger(new Browser.NewContextOptions().setViewportSize(1280, 800));
        page.navigate("/");
        picture(page, "home");
        Page telephone = windowOfStranger(
                new Browser.NewContextOptions().setViewportSize(390, 800).setColorScheme(ColorScheme.DARK));
        telephone.navigate("/?lang=ko");
        telephone.navigate("/login?error");
        telephone.click(".language");
        assertThat(telephone).hasURL(Pattern.compile(".*/login\\?error.*lang=en.*"));
        telephone.navigate("/?lang=ko");
        assertThat(telephone.locator(".scenes li")).hasCount(6);
        picture(telephone, "home-telephone-dark-korean");
        page.navigate("/login");
        assertThat(page.locator(".accounts button")).hasCount(2);
        picture(page, "login");
    }

    @Test
    void pictures_of_the_pages_without_a_scene() {
        Page page = windowOf("customer", new Browser.NewContextOptions().setViewportSize(1280, 800));
        page.navigate("/shipping");
        assertThat(page.locator("tbody tr")).hasCount(2);
        picture(page, "shippings");
        page.navigate("/orders/1001");
        assertThat(page.locator("dl.order")).containsText("Kim Minji");
        picture(page, "order");
    }
}
