// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import java.util.Locale;

/** The ways in which operator and customer can meet; each has an order of its own. */
public enum Lane {
    /** Plain SQL, as one writes it who does not think of the other. */
    UNPROTECTED("3001", false),
    /** {@code lock}: the second waits. */
    PESSIMISTIC("3002", false),
    /** {@code @Version}: the second fails when committing. */
    OPTIMISTIC("3003", false),
    /** The customer changes a line only, with plain JPA: the version does not move. */
    PLAIN_LINE("3004", true),
    /** The same with {@code @PartOf}. */
    LINE("3005", true);

    private final String number;
    private final boolean ofLines;

    Lane(String number, boolean ofLines) {
        this.number = number;
        this.ofLines = ofLines;
    }

    /** Its order. */
    public String number() {
        return number;
    }

    /** Whether the customer changes a line, and not the address. */
    public boolean ofLines() {
        return ofLines;
    }

    /** For messages and paths. */
    public String key() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
