// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.internal.sql.SimRows.Row;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the values of a statement. */
final class SimParams {

    private SimParams() {}

    static boolean isOf(Row row, Params p) {
        return row.lockId != null && row.lockId.equals(p.values.get("lockId"));
    }

    static boolean anotherWaits(Row row, Params p) {
        return row.wanted != 0 && Math.abs(row.wanted) != number(p, "me");
    }

    static long encode(long value, long flags) {
        return value * 8 + flags;
    }

    static @Nullable String text(Params p, String name) {
        return (String) p.values.get(name);
    }

    static long number(Params p, String name) {
        return ((Number) Objects.requireNonNull(p.values.get(name))).longValue();
    }
}
