// SPDX-License-Identifier: Apache-2.0
package io.bitjang.demo;

import java.util.Locale;

/** Tells on the output what happens, with the seconds since the beginning. Coloured if asked to. */
final class Narrator {

    private static final String BOLD = "1";
    private static final String GREEN = "32";
    private static final String RED = "31";
    private static final String CYAN = "36";

    private final boolean coloured;
    private final long began = System.nanoTime();

    Narrator(boolean coloured) {
        this.coloured = coloured;
    }

    void heading(String text) {
        System.out.println();
        System.out.println(in(BOLD, text));
    }

    void plain(String text) {
        System.out.println(text);
    }

    void tell(String who, String what) {
        line(who, what);
    }

    void good(String who, String what) {
        line(who, in(GREEN, what));
    }

    void bad(String who, String what) {
        line(who, in(RED, what));
    }

    private void line(String who, String what) {
        double seconds = (System.nanoTime() - began) / 1e9;
        String column = String.format(Locale.ROOT, "%-7s", who);
        System.out.println(String.format(Locale.ROOT, "  %4.1f s  ", seconds) + in(CYAN, column) + "  " + what);
    }

    private String in(String colour, String text) {
        return coloured ? "\u001b[" + colour + "m" + text + "\u001b[0m" : text;
    }
}
