// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.LockName;
import io.bitjang.internal.sql.SimRows.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the values of a statement. */
final class SimParams {

    private SimParams() {}

    static boolean isOf(Row row, Params p) {
        return row.lockId != null && row.lockId.equals(p.values.get("lockId"));
    }

    static boolean anotherWaits(Row row, Params p) {
        return row.wanted != 0 && row.wanted != number(p, "me");
    }

    static long encode(long value, long flags) {
        return value * 8 + flags;
    }

    static LockName name(Params p) {
        return LockName.of(Objects.requireNonNull(text(p, "type")), Objects.requireNonNull(text(p, "id")));
    }

    static List<LockName> names(Params p) {
        List<LockName> numbered = new ArrayList<>();
        for (int i = 0; p.values.containsKey("type" + i); i++) {
            numbered.add(LockName.of(
                    Objects.requireNonNull(text(p, "type" + i)), Objects.requireNonNull(text(p, "id" + i))));
        }
        if (!numbered.isEmpty()) {
            return numbered;
        }
        String[] types = (String[]) Objects.requireNonNull(p.values.get("types"));
        String[] ids = (String[]) Objects.requireNonNull(p.values.get("ids"));
        List<LockName> names = new ArrayList<>();
        for (int i = 0; i < types.length; i++) {
            names.add(LockName.of(types[i], ids[i]));
        }
        return names;
    }

    static @Nullable String text(Params p, String name) {
        return (String) p.values.get(name);
    }

    static long number(Params p, String name) {
        return ((Number) Objects.requireNonNull(p.values.get(name))).longValue();
    }
}
