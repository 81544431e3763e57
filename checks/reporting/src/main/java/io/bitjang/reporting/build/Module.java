// SPDX-License-Identifier: Apache-2.0
package io.bitjang.reporting.build;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A module that is being built, or was. Several are built beside each other, so only Maven's summary tells how long one took. */
final class Module {

    private static final Pattern BUILDING =
            Pattern.compile("\\[INFO\\] Building (.+?) \\d\\S*(?: +\\[(\\d+/\\d+)\\])?");
    private static final Pattern BUILT =
            Pattern.compile("\\[INFO\\] (.+?)(?: \\d\\S*)? \\.+ (?:SUCCESS|FAILURE) \\[ *([\\d.:]+) (s|min|h)\\]");

    private final String name;
    private final String number;
    private double seconds;

    private Module(String name, String number) {
        this.name = name;
        this.number = number;
    }

    /** The module that Maven begins with, or null if the line does not say so. */
    static Module begun(String line) {
        Matcher building = BUILDING.matcher(line);
        return building.matches()
                ? new Module(building.group(1), building.group(2) == null ? "1/1" : building.group(2))
                : null;
    }

    /** Hears a line of Maven's summary. */
    void hear(String line) {
        Matcher built = BUILT.matcher(line);
        if (built.matches() && built.group(1).equals(name)) {
            took(seconds(built.group(2), built.group(3)));
        }
    }

    private static double seconds(String time, String unit) {
        if (unit.equals("s")) {
            return Double.parseDouble(time);
        }
        String[] parts = time.split(":");
        double units = Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]) / 60.0;
        return units * (unit.equals("h") ? 3600 : 60);
    }

    void took(double measured) {
        seconds = measured;
    }

    boolean isCalled(String other) {
        return name.equals(other);
    }

    private String shortName() {
        return name.startsWith("Bitjang ") ? name.substring("Bitjang ".length()) : name;
    }

    String line() {
        return Build.format("[%5s] %s", number, shortName());
    }

    String row(Journals.Content content, Processes processes) {
        Processes.Usage used = processes.usageOf(name);
        return Build.format(
                "%-28s %7.0f %9.0f %12.0f %7d",
                shortName(),
                seconds,
                used.jvms(),
                used.servers(),
                content.of(this).count());
    }
}
