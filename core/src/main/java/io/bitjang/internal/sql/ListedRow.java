// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import java.util.List;
import java.util.Locale;

/**
 * One row of a statement for many rows.
 *
 * @param name the lock
 * @param secret the random part of its grant; empty where it does not matter
 * @param micros how long to renew it; 0 where it does not matter
 */
public record ListedRow(LockName name, String secret, long micros) {

    /** Makes a row that is just a name. */
    public static ListedRow of(LockName name) {
        return new ListedRow(name, "", 0);
    }

    /** Binds the rows as the dialect's {@code listedRows()} wants them. */
    static Params bind(Params params, boolean json, List<ListedRow> rows) {
        if (json) {
            return params.set("rows", json(rows));
        }
        return params.set("types", rows.stream().map(r -> r.name.type()).toArray(String[]::new))
                .set("ids", rows.stream().map(r -> r.name.id()).toArray(String[]::new))
                .set("lockIds", rows.stream().map(ListedRow::secret).toArray(String[]::new))
                .set("micros", rows.stream().map(ListedRow::micros).toArray(Long[]::new));
    }

    private static String json(List<ListedRow> rows) {
        StringBuilder out = new StringBuilder("[");
        for (ListedRow row : rows) {
            out.append(out.length() == 1 ? "[" : ",[");
            quote(out, row.name.type());
            out.append(',');
            quote(out, row.name.id());
            out.append(',');
            quote(out, row.secret);
            out.append(',').append(row.micros).append(']');
        }
        return out.append(']').toString();
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
