// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import io.bitjang.LockId;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Watches profiles: no lock id in a URL or on the console, no error in a page, and nothing from elsewhere. */
public final class Watch {
    private static final Pattern ELSEWHERE = Pattern.compile("https?://(?!localhost[:/]).*");

    private final List<BrowserContext> contexts = new ArrayList<>();
    private final List<String> urls = new ArrayList<>();
    private final List<String> console = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();

    /** From now on this one, too. */
    public BrowserContext on(BrowserContext context) {
        context.onRequest(request -> urls.add(request.url()));
        context.onConsoleMessage(message -> console.add(message.text()));
        context.onWebError(error -> errors.add(error.error()));
        contexts.add(context);
        return context;
    }

    /** Closes them, and looks at what was seen. */
    public void end() {
        contexts.forEach(BrowserContext::close);
        assertThat(urls)
                .isNotEmpty()
                .noneMatch(Watch::holdsLockId)
                .noneMatch(url -> ELSEWHERE.matcher(url).matches());
        assertThat(console).noneMatch(Watch::holdsLockId).noneMatch(text -> text.contains("Content Security Policy"));
        assertThat(errors).isEmpty();
    }

    /** A lock id carries a checksum, so there is no mistaking it. */
    public static boolean holdsLockId(String text) {
        return Stream.of(text.split("[^A-Za-z0-9_-]+")).anyMatch(Watch::isLockId);
    }

    private static boolean isLockId(String text) {
        try {
            return new LockId(text).value() != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
