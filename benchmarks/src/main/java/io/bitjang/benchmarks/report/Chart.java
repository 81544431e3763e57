// SPDX-License-Identifier: Apache-2.0
package io.bitjang.benchmarks.report;

import java.util.Locale;
import java.util.Map;

/** Bars, as an SVG that needs nothing else. */
final class Chart {

    private static final int WIDTH = 860;
    private static final int LEFT = 190;
    private static final int BAR = 16;
    private static final int GAP = 6;
    private static final int HEAD = 34;
    private static final int LABEL = 90;

    private Chart() {}

    /** A group of bars for each place; the length counts, on one scale for all. */
    static String of(String title, Map<String, Map<String, Double>> values, String unit) {
        double most = values.values().stream()
                .flatMap(row -> row.values().stream())
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(1);
        StringBuilder body = new StringBuilder();
        int y = HEAD + GAP;
        for (Map.Entry<String, Map<String, Double>> place : values.entrySet()) {
            y += BAR;
            text(body, 8, y, "700", "start", place.getKey());
            y += GAP;
            for (Map.Entry<String, Double> bar : place.getValue().entrySet()) {
                double length = (WIDTH - LEFT - LABEL) * bar.getValue() / Math.max(most, Double.MIN_NORMAL);
                text(body, LEFT - 8, y + BAR - 4, "400", "end", bar.getKey());
                body.append(String.format(
                        Locale.ROOT,
                        "<rect x='%d' y='%d' width='%.1f' height='%d' rx='2' class='%s'/>%n",
                        LEFT,
                        y,
                        Math.max(1, length),
                        BAR - 2,
                        bar.getKey().startsWith("Bitjang")
                                ? "ours"
                                : bar.getKey().startsWith("floor") ? "floor" : "peer"));
                text(body, LEFT + (int) length + 6, y + BAR - 4, "400", "start", Report.number(bar.getValue()));
                y += BAR + GAP / 2;
            }
            y += GAP;
        }
        return String.format(Locale.ROOT, """
                <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %1$d %2$d' width='%1$d' height='%2$d' role='img' aria-label='%3$s'>
                <style>
                svg { background: #ffffff } text { font: 12px system-ui, sans-serif; fill: #24292f }
                .ours { fill: #0f766e } .peer { fill: #94a3b8 } .floor { fill: #d6c7a1 }
                @media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #c9d1d9 } }
                </style>
                <text x='8' y='20' style='font-size: 15px; font-weight: 700'>%3$s (%4$s)</text>
                %5$s</svg>
                """, WIDTH, y + GAP, escape(title), escape(unit), body);
    }

    private static void text(StringBuilder to, int x, int y, String weight, String anchor, String text) {
        to.append(String.format(
                Locale.ROOT,
                "<text x='%d' y='%d' text-anchor='%s' style='font-weight: %s'>%s</text>%n",
                x,
                y,
                anchor,
                weight,
                escape(text)));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;");
    }
}
