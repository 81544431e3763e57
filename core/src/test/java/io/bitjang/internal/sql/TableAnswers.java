// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * Compares what a server answers with what the simulation does. A server reads its clock a little later than it is read for the
 * simulation, so its times, and the fences that are made of them, may be greater by so much.
 *
 * @param earliest by how many microseconds a server may be behind
 * @param latest by how many it may be ahead
 */
record TableAnswers(long earliest, long latest) {

    boolean alike(TableOp.Kind kind, Object server, Object simulation) {
        if (server instanceof OptionalLong one && simulation instanceof OptionalLong other) {
            return one.isPresent() == other.isPresent()
                    && (one.isEmpty() || kind == TableOp.Kind.ANY || sameNumber(one.getAsLong(), other.getAsLong()));
        }
        if (server instanceof List<?> all && simulation instanceof List<?> others) {
            List<?> some = whatCounts(all);
            List<?> same = sorted(others);
            boolean alike = some.size() == same.size();
            for (int i = 0; alike && i < some.size(); i++) {
                alike = sameElement(some.get(i), same.get(i));
            }
            return alike;
        }
        return server.equals(simulation);
    }

    private boolean sameElement(Object server, Object simulation) {
        if (server instanceof LockStore.Upserted one && simulation instanceof LockStore.Upserted other) {
            return one.changed() == other.changed() && sameRow(one.row(), other.row());
        }
        if (server instanceof LockRow one && simulation instanceof LockRow other) {
            return sameRow(one, other);
        }
        return server instanceof Long one && simulation instanceof Long other && sameNumber(one, other);
    }

    private boolean sameRow(LockRow one, LockRow other) {
        return one.name().equals(other.name())
                && Objects.equals(one.lockId(), other.lockId())
                && Objects.equals(one.owner(), other.owner())
                && Objects.equals(one.note(), other.note())
                && one.reserved() == other.reserved()
                && one.wanted() == other.wanted()
                && Objects.equals(one.takenFrom(), other.takenFrom())
                && Objects.equals(one.forced(), other.forced())
                && about(one.fence(), other.fence())
                && about(one.acquiredAt(), other.acquiredAt())
                && about(one.expiresAt(), other.expiresAt())
                && about(one.now(), other.now());
    }

    private boolean sameNumber(long one, long other) {
        return (one & 7) == (other & 7) && about(one >> 3, other >> 3);
    }

    private boolean about(long server, long simulation) {
        return server >= simulation - earliest && server <= simulation + latest;
    }

    /** Next to a row that was changed, H2 answers with the row as it was, which nobody looks at. */
    private static List<?> whatCounts(List<?> rows) {
        boolean changed = rows.stream().anyMatch(each -> each instanceof LockStore.Upserted row && row.changed());
        return sorted(rows).stream()
                .filter(each -> !changed || each instanceof LockStore.Upserted row && row.changed())
                .toList();
    }

    /** Several rows come in any order. */
    private static List<?> sorted(List<?> rows) {
        return rows.stream()
                .sorted(Comparator.comparing(
                        each -> each instanceof LockRow row ? row.name().toString() : ""))
                .toList();
    }

    /** For people: a row's own text hides what it is compared by. */
    static String told(Object answer) {
        if (answer instanceof OptionalLong number) {
            return number.isEmpty()
                    ? "nothing"
                    : (number.getAsLong() >> 3) + " with the flags " + (number.getAsLong() & 7);
        }
        if (answer instanceof List<?> rows) {
            return rows.stream().map(TableAnswers::toldRow).toList().toString();
        }
        return String.valueOf(answer);
    }

    private static String toldRow(Object element) {
        if (element instanceof LockStore.Upserted upserted) {
            return (upserted.changed() ? "changed " : "not changed ") + toldRow(upserted.row());
        }
        return element instanceof LockRow row
                ? row.name() + " lockId=" + row.lockId() + " owner=" + row.owner() + " fence=" + row.fence() + "+"
                        + row.reserved() + " acquired=" + row.acquiredAt() + " expires=" + row.expiresAt() + " note="
                        + row.note() + " wanted="
                        + row.wanted() + " takenFrom=" + row.takenFrom() + " forced=" + row.forced() + " now="
                        + row.now()
                : told(element instanceof Long number ? OptionalLong.of(number) : element);
    }
}
