// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import io.bitjang.admin.LockAdmin;
import io.bitjang.browser.app.Notes;
import io.bitjang.browser.app.NotesApplication;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The server and the browser: started once for all tests. Only for the thread of the tests, as Playwright wants it. */
final class Stage implements AutoCloseable {
    private static final double PATIENCE_MS = 15_000;

    /** Puts the stage up before the first test class, and hands it to the tests. */
    static final class Extension implements BeforeAllCallback, ParameterResolver {
        @Override
        public void beforeAll(ExtensionContext context) {
            stage(context);
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == Stage.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return stage(context);
        }

        private static Stage stage(ExtensionContext context) {
            return context.getRoot()
                    .getStore(ExtensionContext.Namespace.create(Stage.class))
                    .computeIfAbsent(Stage.class, key -> new Stage(), Stage.class);
        }
    }

    private final Path executable;
    private final ConfigurableApplicationContext application;
    private final Playwright playwright;
    private final Browser browser;
    private final Map<String, String> signedIn = new HashMap<>();
    private final AtomicInteger notes = new AtomicInteger();

    private Stage() {
        executable = Chromium.find().orElseGet(Stage::withoutChromium);
        application = SpringApplication.run(
                NotesApplication.class,
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--spring.datasource.url=jdbc:h2:mem:notes;DB_CLOSE_DELAY=-1");
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MS);
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(executable)
                        .setArgs(Chromium.FLAGS));
    }

    /** On a developer's machine these tests are left out, and say so; where a change is accepted they have to run. */
    private static Path withoutChromium() {
        String reason = "No Chromium was found, so the browser's client is NOT tested. Install it (Debian: chromium),"
                + " or name it with -Dbitjang.chromium=<path>.";
        if (Boolean.getBoolean("bitjang.ci")) {
            return fail(reason);
        }
        System.err.println(reason);
        return abort(reason);
    }

    private static ConfigurableApplicationContext start(String... more) {
        return SpringApplication.run(
                NotesApplication.class,
                Stream.concat(
                                Stream.of(
                                        "--server.port=0",
                                        "--spring.main.banner-mode=off",
                                        "--logging.level.root=warn",
                                        "--spring.datasource.url=jdbc:h2:mem:notes;DB_CLOSE_DELAY=-1"),
                                Stream.of(more))
                        .toArray(String[]::new));
    }

    private static String addressOf(ConfigurableApplicationContext server) {
        return "http://localhost:" + server.getEnvironment().getProperty("local.server.port");
    }

    /** A profile signed in at a second server on the same database, which is protected in the way for pages made of scripts. */
    BrowserContext contextOfScripts(String person) {
        ConfigurableApplicationContext server = start("--notes.scripts=true");
        BrowserContext context = browser.newContext(new Browser.NewContextOptions().setBaseURL(addressOf(server)));
        context.onClose(closed -> server.close());
        signIn(context.newPage(), person);
        return context;
    }

    Notes notes() {
        return application.getBean(Notes.class);
    }

    LockAdmin locks() {
        return application.getBean(LockAdmin.class);
    }

    /** The id of a note that no other test knows. */
    String newNote(String text) {
        return notes().add("n" + notes.incrementAndGet(), text);
    }

    /** A browser profile of its own in which this person is signed in. */
    BrowserContext contextOf(String person, Browser.NewContextOptions options) {
        String state = signedIn.computeIfAbsent(person, this::signIn);
        BrowserContext context = browser.newContext(options.setBaseURL(addressOf(application))
                .setViewportSize(800, 500)
                .setStorageState(state));
        context.setDefaultTimeout(PATIENCE_MS);
        return context;
    }

    private String signIn(String person) {
        try (BrowserContext context =
                browser.newContext(new Browser.NewContextOptions().setBaseURL(addressOf(application)))) {
            signIn(context.newPage(), person);
            return context.storageState();
        }
    }

    static void signIn(Page page, String person) {
        page.navigate("/login");
        page.fill("[name=username]", person);
        page.fill("[name=password]", "secret");
        page.click("button");
        page.waitForURL("**/");
    }

    /** A browser process of its own, with this folder as its profile: one that a test may kill. */
    BrowserContext processWith(Path profile) {
        return playwright
                .chromium()
                .launchPersistentContext(
                        profile,
                        new BrowserType.LaunchPersistentContextOptions()
                                .setExecutablePath(executable)
                                .setArgs(Chromium.FLAGS)
                                .setBaseURL(addressOf(application)));
    }

    @Override
    public void close() {
        playwright.close();
        application.close();
    }
}
