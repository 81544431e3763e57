// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** Chromium, and people who are signed in at one server. Only for the thread of the tests, as Playwright wants it. */
public final class Browsers implements AutoCloseable {
    private static final double PATIENCE_MS = 20_000;

    private final String address;
    private final BiConsumer<Page, String> signIn;
    private final Playwright playwright;
    private final Browser browser;
    private final Map<String, String> signedIn = new HashMap<>();

    /**
     * Starts it.
     *
     * @param address of the server
     * @param signIn how a person signs in there
     */
    public Browsers(String address, BiConsumer<Page, String> signIn) {
        this(address, signIn, playwright());
    }

    private Browsers(String address, BiConsumer<Page, String> signIn, Playwright playwright) {
        this(
                address,
                signIn,
                playwright,
                playwright
                        .chromium()
                        .launch(new BrowserType.LaunchOptions()
                                .setExecutablePath(Chromium.require())
                                .setArgs(Chromium.FLAGS)));
    }

    private Browsers(String address, BiConsumer<Page, String> signIn, Playwright playwright, Browser browser) {
        this.address = address;
        this.signIn = signIn;
        this.playwright = playwright;
        this.browser = browser;
    }

    private static Playwright playwright() {
        Chromium.require();
        PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MS);
        return Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    }

    /** The same browser, and people who are signed in at another server. */
    public Browsers at(String otherAddress) {
        return new Browsers(otherAddress, signIn, playwright, browser);
    }

    /** A profile of its own in which this person is signed in, once for all tests. */
    public BrowserContext profileOf(String person, Browser.NewContextOptions options) {
        return profile(options.setStorageState(signedIn.computeIfAbsent(person, this::signIn)));
    }

    /** One in which nobody is. */
    public BrowserContext profile(Browser.NewContextOptions options) {
        BrowserContext context =
                browser.newContext(options.setBaseURL(options.baseURL == null ? address : options.baseURL)
                        .setLocale(options.locale == null ? "en-US" : options.locale));
        context.setDefaultTimeout(PATIENCE_MS);
        return context;
    }

    private String signIn(String person) {
        try (BrowserContext context = profile(new Browser.NewContextOptions())) {
            signIn.accept(context.newPage(), person);
            return context.storageState();
        }
    }

    /** A browser process of its own, with this folder as its profile: one that a test may kill. */
    public BrowserContext processWith(Path profile) {
        BrowserContext context = playwright
                .chromium()
                .launchPersistentContext(
                        profile,
                        new BrowserType.LaunchPersistentContextOptions()
                                .setExecutablePath(Chromium.require())
                                .setArgs(Chromium.FLAGS)
                                .setLocale("en-US")
                                .setBaseURL(address));
        context.setDefaultTimeout(PATIENCE_MS);
        return context;
    }

    /** The browser with this profile, and the processes of its tabs. */
    public static List<ProcessHandle> processesOf(Path profile) {
        List<ProcessHandle> processes = findProcessesOf(profile);
        if (processes.isEmpty()) {
            throw new AssertionError("No browser has the profile " + profile);
        }
        return processes;
    }

    /** The same, also when there are none. */
    public static List<ProcessHandle> findProcessesOf(Path profile) {
        return ProcessHandle.current()
                .descendants()
                .filter(process -> process.info().commandLine().orElse("").contains(profile.toString()))
                .flatMap(each -> Stream.concat(Stream.of(each), each.descendants()))
                .distinct()
                .toList();
    }

    /** Ends the browser, and so all that share it. */
    @Override
    public void close() {
        playwright.close();
    }
}
