// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * An update of one lock's row, found by its name ({@code :type}, {@code :id}), that answers with one number. The dialects write
 * it down each in their own way; what it does stands once.
 *
 * <p>Conditions and values speak of the row before the change as {@code c}. MariaDB assigns from left to right, so a column that
 * others still read is set after them.
 */
public final class RowUpdate {

    /** How the row is locked first. */
    public enum Lock {
        /** Against everybody, also against a guard's pin: for whatever gives the lock to someone new. */
        EXCLUSIVE,
        /** Past a pin, where the database can tell the two apart. */
        PAST_PINS,
        /** Past a pin as well, but waits a moment for a row that is locked for a moment, where that is faster. */
        PATIENT,
        /** By the transaction that has pinned the row: another's renewal of the row for a moment is waited for. */
        PINNED
    }

    final String table;
    final String condition;
    final Lock lock;
    final Map<String, String> assignments;
    final String answer;
    final String flags;
    final boolean notifies;

    private RowUpdate(Builder builder, String answer, String flags) {
        this.table = builder.table;
        this.condition = builder.condition;
        this.lock = builder.lock;
        this.assignments = new LinkedHashMap<>(builder.assignments);
        this.answer = answer;
        this.flags = flags;
        this.notifies = builder.notifies;
    }

    /** Begins a change of rows that meet the condition. */
    public static Builder of(String table, Lock lock, String condition) {
        return new Builder(table, lock, condition);
    }

    /** Tells whether the answer's column keeps its value, so that the row as it was tells it. */
    boolean keepsAnswer() {
        return ("c." + answer).equals(assignments.get(answer));
    }

    /** Tells whether the change depends on this expression. */
    boolean reads(String expression) {
        return condition.contains(expression)
                || assignments.values().stream().anyMatch(value -> value.contains(expression));
    }

    /** Tells whether the row may have all the assigned values already. */
    boolean mayChangeNothing() {
        return !(assignments.containsKey("lock_id")
                || assignments.containsKey("wanted")
                || assignments.containsKey("probes"));
    }

    /** Writes the assignments, each by the function, with commas between. */
    String assignments(BiFunction<String, String, String> writer) {
        return assignments.entrySet().stream()
                .map(e -> writer.apply(e.getKey(), e.getValue()))
                .collect(Collectors.joining(",\n    "));
    }

    /** Writes the answer as an expression over a row: the column times 8 plus flags. */
    String encode(String value) {
        return "(" + value + ") * 8 + " + flags;
    }

    /** Collects the assignments. Not thread-safe. */
    public static final class Builder {
        private final String table;
        private final Lock lock;
        private final String condition;
        private final Map<String, String> assignments = new LinkedHashMap<>();
        private boolean notifies;

        private Builder(String table, Lock lock, String condition) {
            this.table = table;
            this.lock = lock;
            this.condition = condition;
        }

        /** Assigns a value to a column. */
        public Builder set(String column, String value) {
            assignments.put(column, value);
            return this;
        }

        /** Notifies those who wait, where the database can, if the answer has a flag. */
        public Builder notifying() {
            this.notifies = true;
            return this;
        }

        /** Answers with the new value of this column times 8, plus flags (0 to 7) that are computed from the old row. */
        public RowUpdate answering(String column, String flags) {
            if (!assignments.containsKey(column)) {
                // written first, so that MariaDB computes the flags from the row as it was
                Map<String, String> others = new LinkedHashMap<>(assignments);
                assignments.clear();
                assignments.put(column, "c." + column);
                assignments.putAll(others);
            }
            return new RowUpdate(this, column, flags);
        }
    }
}
