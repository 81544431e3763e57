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
     * Translates; text in quotes and PostgreSQL's {@code ::} casts are left alone. The layout of the source is not sent: a driver
     * may parse the text each time, character by character.
     */
    public static Sql parse(String laidOut) {
        String named = laidOut.replaceAll("\\s+", " ");
        StringBuilder text = new StringBuilder(named.length());
        List<String> parameters = new ArrayList<>();
        for (int i = 0; i < named.length(); ) {
            char c = named.charAt(i);
            int end = i + 1;
            if (c == '\'' || c == '"' || c == '`') {
                end = named.indexOf(c, i + 1) + 1;
            } else if (named.startsWith("::", i)) {
                end = i + 2;
            } else if (c == ':' && end < named.length() && Character.isJavaIdentifierStart(named.charAt(end))) {
                while (end < named.length() && Character.isJavaIdentifierPart(named.charAt(end))) {
                    end++;
                }
                parameters.add(named.substring(i + 1, end));
                text.append('?');
                i = end;
                continue;
            }
            text.append(named, i, end);
            i = end;
        }
        return new Sql(text.toString(), List.copyOf(parameters));
    }
}
