// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import io.bitjang.admin.LockAdmin;
import io.bitjang.browser.app.Notes;
import io.bitjang.browser.app.NotesApplication;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The server and the browser: started once for all tests of this JVM, also where it gets its test classes one by one. */
final class Stage implements AutoCloseable {
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
            return context.getStore(
                            ExtensionContext.StoreScope.LAUNCHER_SESSION,
                            ExtensionContext.Namespace.create(Stage.class))
                    .computeIfAbsent(Stage.class, key -> new Stage(), Stage.class);
        }
    }

    /** One that no other stage of this JVM has used. */
    private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

    private final ConfigurableApplicationContext application;
    private final Browsers browsers;
    private final AtomicInteger notes = new AtomicInteger();

    private Stage() {
        Chromium.require();
        application = start();
        browsers = new Browsers(addressOf(application), Stage::signIn);
    }

    private ConfigurableApplicationContext start(String... more) {
        return SpringApplication.run(
                NotesApplication.class,
                Stream.concat(
                                Stream.of(
                                        "--server.port=0",
                                        "--spring.main.banner-mode=off",
                                        "--logging.level.root=warn",
                                        "--spring.datasource.url=" + database),
                                Stream.of(more))
                        .toArray(String[]::new));
    }

    private static String addressOf(ConfigurableApplicationContext server) {
        return "http://localhost:" + server.getEnvironment().getProperty("local.server.port");
    }

    /** A profile signed in at a second server on the same database, which is protected in another way. */
    BrowserContext contextAt(NotesApplication.Protection protection, String person) {
        ConfigurableApplicationContext server = start("--notes.protection=" + protection);
        BrowserContext context = browsers.profile(new Browser.NewContextOptions().setBaseURL(addressOf(server)));
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

    /** Lets the lock of a note run out: now, instead of at the end of its lease. */
    void lapse(String note) {
        application
                .getBean(JdbcClient.class)
                .sql("UPDATE bitjang_locks SET expires_at = acquired_at + 1 WHERE type = 'note' AND id = ?")
                .param(note)
                .update();
    }

    /** The id of a note that no other test knows. */
    String newNote(String text) {
        return notes().add("n" + notes.incrementAndGet(), text);
    }

    Browsers browsers() {
        return browsers;
    }

    static void signIn(Page page, String person) {
        page.navigate("/login");
        page.fill("[name=username]", person);
        page.fill("[name=password]", "secret");
        page.click("button");
        page.waitForURL("**/");
    }

    @Override
    public void close() {
        browsers.close();
        application.close();
    }
}
