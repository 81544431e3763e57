// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Where the browser is, and how it is started. */
public final class Chromium {
    public static final List<String> FLAGS = List.of(
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-features=" + String.join(",", withoutFeatures()));

    private Chromium() {}

    /**
     * Without the pages of the address bar, of which every window loads two that nobody sees, and without processes in reserve: half of
     * the work of opening a window. Chromium hears the last list only, so what matters of Playwright's own is said again.
     */
    private static List<String> withoutFeatures() {
        return List.of(
                "WebUIOmniboxPopup",
                "WebUIOmniboxAimPopup",
                "SpareRendererForSitePerProcess",
                "AvoidUnnecessaryBeforeUnloadCheckSync",
                "BoundaryEventDispatchTracksNodeRemoval",
                "DestroyProfileOnBrowserClose",
                "GlobalMediaControls",
                "HttpsUpgrades",
                "MediaRouter",
                "OptimizationHints",
                "PaintHolding",
                "ThirdPartyStoragePartitioning",
                "Translate");
    }

    /** The one named by the property or the environment variable {@code bitjang.chromium}, else the first on the PATH. */
    public static Optional<Path> find() {
        return Stream.of(System.getProperty("bitjang.chromium"), System.getenv("bitjang.chromium"))
                .filter(name -> name != null && !name.isBlank())
                .map(Path::of)
                .findFirst()
                .or(Chromium::onPath);
    }

    /** The browser; without one there is no test. */
    public static Path require() {
        return find().orElseGet(Chromium::without);
    }

    /** On a developer's machine these tests are left out, and say so; where a change is accepted they have to run. */
    private static Path without() {
        String reason = "No Chromium was found, so the pages are NOT tested. Install it (Debian: chromium),"
                + " or name it with -Dbitjang.chromium=<path>.";
        if (Boolean.getBoolean("bitjang.ci")) {
            return fail(reason);
        }
        System.err.println(reason);
        return abort(reason);
    }

    private static Optional<Path> onPath() {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of("chromium", "chromium-browser", "google-chrome")
                .flatMap(name -> Arrays.stream(path.split(File.pathSeparator)).map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
