// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.tests;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ViewportSize;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import io.bitjang.browser.Chromium;
import io.bitjang.browser.Watch;
import io.bitjang.testkit.TestDatabases;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A test in the shop, watched ({@link Watch}): all on H2, and what a database has a say in on MySQL, too ({@link AllScenesTest}). */
@Tag("browser")
@ExtendWith(InShop.Stages.class)
abstract class InShop {

    /** On the first of the databases. */
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedClass(name = "{0}", allowZeroInvocations = true)
    @MethodSource("io.bitjang.shop.tests.InShop#oneDatabase")
    @interface OnOne {}

    /** On the others. */
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedClass(name = "{0}", allowZeroInvocations = true)
    @MethodSource("io.bitjang.shop.tests.InShop#otherDatabases")
    @interface OnOthers {}

    /** Hands the stage of the database to the tests. */
    static final class Stages implements BeforeAllCallback, ParameterResolver {
        /** Before anything else: without a browser nothing begins, so nothing has to end. */
        @Override
        public void beforeAll(ExtensionContext context) {
            Chromium.require();
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == ExtensionContext.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return context;
        }
    }

    @Parameter
    String database;

    private final Watch watch = new Watch();
    ShopStage stage;

    /** Those on which a browser looks at it. */
    static List<String> databases() {
        if ("false".equals(System.getProperty("bitjang.browser"))) {
            return List.of();
        }
        String wanted = System.getProperty("bitjang.shop.databases"); // the others work too, and take their time
        return wanted != null
                ? List.of(wanted.split(","))
                : Stream.of("h2", "mysql")
                        .filter(TestDatabases.selected()::contains)
                        .toList();
    }

    static List<String> oneDatabase() {
        return databases().stream().limit(1).toList();
    }

    static List<String> otherDatabases() {
        return databases().stream().skip(1).toList();
    }

    static {
        if (databases().isEmpty() && !"false".equals(System.getProperty("bitjang.browser"))) {
            System.out.println("SKIPPED the shop in a browser: it is tested on h2 and mysql, and neither was chosen");
        }
    }

    @BeforeEach
    void enter(ExtensionContext context) {
        stage = ShopStage.on(database, context);
    }

    @AfterEach
    void leave() {
        watch.end();
    }

    /** A window of this person's. */
    Page windowOf(String person) {
        return windowOf(person, new Browser.NewContextOptions());
    }

    Page windowOf(String person, Browser.NewContextOptions options) {
        return watch.on(stage.browsers().profileOf(person, options)).newPage();
    }

    /** A window in which nobody is signed in. */
    Page windowOfStranger(Browser.NewContextOptions options) {
        return watch.on(stage.browsers().profile(options)).newPage();
    }

    /** Presses Edit on the order's page, and returns what follows. */
    static Page pressEdit(Page page, String number) {
        page.navigate("/orders/" + number);
        assertThat(page.locator("[data-bitjang-client]").first()).not().hasValue("");
        page.locator("form[action$='/edit'] button").click();
        return page;
    }

    /** The editor of an order, with the lock. */
    static Page edit(Page page, String number) {
        pressEdit(page, number);
        awaitState(page, "held");
        return page;
    }

    static void awaitState(Page page, String state) {
        assertThat(page.locator("form[data-bitjang-edit-lock]")).hasAttribute("data-bitjang-state", state);
    }

    /** The page asks the server at once, as it does when its person comes back to it, whatever its timers say. */
    static void wake(Page page) {
        page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }");
    }

    static Locator field(Page page, String name) {
        return page.locator("main [name='" + name + "']:not([type=hidden])");
    }

    static Locator save(Page page) {
        return page.locator("form[data-bitjang-edit-lock] button:has-text('Save')");
    }

    static Locator notice(Page page) {
        return page.locator(".notice");
    }

    static Locator title(Page page) {
        return page.locator("h1");
    }

    /** The lock as the database has it; empty if nobody has it. */
    Optional<LockData> lock(String number) {
        return stage.bean(LockAdmin.class).find(LockName.of("order", number)).filter(LockData::held);
    }

    /** Nothing sticks out, on a telephone either, and no text is missing. */
    static void assertFits(Page page) {
        ViewportSize size = page.viewportSize();
        for (int width : new int[] {1280, 390}) {
            page.setViewportSize(width, 800);
            Object wide = page.evaluate("""
                    document.scrollingElement.scrollWidth <= innerWidth ? [] : ['the page',
                      ...[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
                        .map((e) => e.nodeName + '.' + e.className)]""");
            assertThat((List<?>) wide).as("%s at %d", page.url(), width).isEmpty();
        }
        page.setViewportSize(size.width, size.height);
        assertThat(page.title()).doesNotContain("??");
        assertThat(page.locator("body")).not().containsText("??");
    }

    /** A picture, to be looked at; those of H2 are kept in the documents if one asks for it. */
    void picture(Page page, String name) {
        assertFits(page);
        if (!database.equals("h2")) {
            return;
        }
        Path folder = Boolean.getBoolean("bitjang.pictures")
                ? Path.of("..", "..", "docs", "shop")
                : Path.of("target", "pictures");
        page.screenshot(new Page.ScreenshotOptions()
                .setPath(folder.resolve(name + ".png"))
                .setFullPage(true));
    }
}
