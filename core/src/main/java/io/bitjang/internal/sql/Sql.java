// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.util.ArrayList;
import java.util.List;

/**
 * A statement with named parameters ({@code :name}), translated once into JDBC's question marks. Immutable.
 *
 * @param text the statement for the driver
 * @param parameters the name behind each question mark
 */
public record Sql(String text, List<String> parameters) {

    /**
     * Translates a statement; text in quotes and PostgreSQL's {@code ::} casts are left alone. The layout of the source is not
     * sent: a driver may parse the text each time, character by character.
     */
    public static Sql parse(String laidOut) {
        String named = inOneLine(laidOut);
        StringBuilder text = new StringBuilder(named.length());
        List<String> parameters = new ArrayList<>();
        int copied = 0;
        for (int i = 0; i < named.length(); ) {
            char c = named.charAt(i);
            if (c == '\'' || c == '"' || c == '`') {
                int end = named.indexOf(c, i + 1);
                if (end < 0) {
                    throw new IllegalArgumentException("A quote is not closed: " + named);
                }
                i = end + 1;
            } else if (c != ':') {
                i++;
            } else if (named.startsWith("::", i)) {
                i += 2;
            } else {
                int end = endOfName(named, i + 1);
                if (end > i + 1) {
                    parameters.add(named.substring(i + 1, end));
                    text.append(named, copied, i).append('?');
                    copied = end;
                }
                i = end;
            }
        }
        return new Sql(text.append(named, copied, named.length()).toString(), List.copyOf(parameters));
    }

    /**
     * Puts a statement in one line, by hand: a regular expression takes three times as long, and some forty statements are
     * translated at each start.
     */
    private static String inOneLine(String laidOut) {
        StringBuilder line = new StringBuilder(laidOut.length());
        boolean space = false;
        for (int i = 0; i < laidOut.length(); i++) {
            char c = laidOut.charAt(i);
            boolean again = space;
            space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
            if (!space) {
                line.append(c);
            } else if (!again) {
                line.append(' ');
            }
        }
        return line.toString();
    }

    /** Returns where a name ends; the start itself if no name begins there. */
    private static int endOfName(String text, int start) {
        int end = start;
        if (end < text.length() && !Character.isJavaIdentifierStart(text.charAt(end))) {
            return start;
        }
        while (end < text.length() && Character.isJavaIdentifierPart(text.charAt(end))) {
            end++;
        }
        return end;
    }
}
