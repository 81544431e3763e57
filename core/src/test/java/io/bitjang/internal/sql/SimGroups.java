// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import static io.bitjang.internal.sql.SimParams.encode;
import static io.bitjang.internal.sql.SimParams.number;
import static io.bitjang.internal.sql.SimParams.text;

import io.bitjang.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What the statements for several rows mean, and those of the sweep. Not thread-safe. */
abstract class SimGroups extends SimRows {

    SimGroups(Server server, Observer observer) {
        super(server, observer);
    }

    final Object renewListed(Transaction tx, Params p) {
        Long[] micros = (Long[]) Objects.requireNonNull(p.values.get("micros"));
        return listed(tx, p, this::isHeld, (row, i) -> row.expiresAt = Math.max(row.expiresAt, clock + micros[i]));
    }

    final Object releaseListed(Transaction tx, Params p) {
        return listed(tx, p, row -> row.reentered != row.fence, (row, i) -> {
            tx.rings(names(p).get(i), row.wanted != 0);
            row.lockId = null;
            row.expiresAt = clock;
        });
    }

    final Object raiseFences(Transaction tx, Params p) {
        return listed(tx, p, row -> row.fence < number(p, "fence"), (row, i) -> row.fence = number(p, "fence"));
    }

    private interface ListedChange {
        void apply(Row row, int index);
    }

    private int listed(Transaction tx, Params p, Predicate<Row> condition, ListedChange change) {
        List<LockName> names = names(p);
        String[] secrets = (String[]) Objects.requireNonNull(p.values.get("lockIds"));
        Map<Integer, Row> locked = new TreeMap<>();
        for (int i = 0; i < secrets.length; i++) {
            String secret = secrets[i];
            @Nullable
            Row row = lockIf(
                    tx,
                    names.get(i),
                    Strength.NO_KEY,
                    Patience.SKIPS,
                    each -> secret.equals(each.lockId) && condition.test(each));
            if (row != null) {
                locked.put(i, row);
            }
        }
        locked.forEach((i, row) -> change.apply(change(tx, names.get(i), row), i));
        return locked.size();
    }

    final Object readListed(Transaction tx, Params p) {
        List<LockRow> found = new ArrayList<>();
        names(p).forEach(name -> found.addAll(seen(tx, name)));
        return found;
    }

    final Object insertFree(Transaction tx, Params p) {
        int count = 0;
        for (LockName name : names(p)) {
            if (tx.see(name) == null) {
                Row row = new Row();
                row.expiresAt = clock;
                tx.put(name, row);
                count++;
            }
        }
        return count;
    }

    final Object takeAll(Transaction tx, Params p) {
        List<LockName> names = names(p);
        Map<LockName, Row> locked = new TreeMap<>();
        for (LockName name : new TreeSet<>(names)) {
            @Nullable Row row = lockIf(tx, name, Strength.FULL, Patience.SKIPS, each -> !isHeld(each));
            if (row != null) {
                locked.put(name, row);
            }
        }
        if (locked.size() < names.size()) {
            return OptionalLong.empty();
        }
        long fence = Math.max(
                locked.values().stream()
                                .mapToLong(row -> row.fence + row.reserved)
                                .max()
                                .orElseThrow()
                        + 1,
                clock);
        boolean over = locked.values().stream().anyMatch(row -> row.lockId != null);
        boolean wanted = locked.values().stream().anyMatch(row -> marked(row, p) != 0);
        locked.forEach((name, row) -> grantInGroup(tx, p, name, row, fence));
        return OptionalLong.of(encode(fence, (over ? 4 : 0) + (wanted ? 2 : 0)));
    }

    /** Takes or inserts each row with a fence of its own; all or none. */
    final Object upsertAll(Transaction tx, Params p) {
        List<LockName> names = names(p);
        List<Row> rows = new ArrayList<>();
        for (LockName name : names) {
            @Nullable Row row = tx.see(name) == null ? new Row() : lock(tx, name, Strength.FULL, Patience.SKIPS);
            if (isHeld(Objects.requireNonNull(row))) {
                throw SimFailures.outOfRange();
            }
            rows.add(row);
        }
        List<Long> answer = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            grantInGroup(tx, p, names.get(i), row, Math.max(row.fence + row.reserved + 1, clock));
            int flags = (row.lockId != null ? 4 : 0) + (marked(row, p) != 0 ? 2 : 0);
            answer.add(encode(Math.max(row.fence + row.reserved + 1, clock), flags));
        }
        return answer;
    }

    private void grantInGroup(Transaction tx, Params p, LockName name, Row row, long fence) {
        Row changed = change(tx, name, row);
        changed.takenFrom = row.lockId != null ? row.owner : null;
        changed.lockId = text(p, "lockId");
        changed.owner = text(p, "owner");
        changed.fence = fence;
        changed.reserved = 0;
        changed.acquiredAt = clock;
        changed.expiresAt = clock + number(p, "duration");
        changed.note = text(p, "note");
        changed.forced = null;
        changed.wanted = marked(row, p);
    }

    /** What becomes of another process's mark when a group is granted. */
    private static long marked(Row row, Params p) {
        return row.wanted == number(p, "me") || row.wanted < 0 ? 0 : -row.wanted;
    }

    final Object idle(Transaction tx, Params p) {
        List<AdminSql.Idle> found = new ArrayList<>();
        for (LockName name : names()) {
            @Nullable Row row = tx.see(name);
            if (row != null && isIdle(row, p)) {
                found.add(new AdminSql.Idle(name, row.fence));
            }
        }
        return found;
    }

    final Object deleteIdle(Transaction tx, Params p) {
        LockName name = name(p);
        @Nullable
        Row row = lockIf(
                tx, name, Strength.FULL, Patience.PATIENT, each -> each.fence == number(p, "fence") && isIdle(each, p));
        if (row == null) {
            return 0;
        }
        tx.delete(name);
        return 1;
    }

    private boolean isIdle(Row row, Params p) {
        return !isHeld(row) && row.expiresAt < clock - number(p, "idle") && row.fence + row.reserved < clock;
    }
}
