// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.cards;

import java.util.Locale;

/** How a card is added. */
public enum Way {
    /** Count, then insert. */
    NONE,
    /** {@code GET_LOCK} and {@code RELEASE_LOCK}, each on whatever connection the pool has. */
    SEED,
    /** A session lock of Bitjang's. */
    BITJANG;

    /** For messages and paths. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
