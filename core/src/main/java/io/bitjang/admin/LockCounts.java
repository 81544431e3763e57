// SPDX-License-Identifier: Apache-2.0
package io.bitjang.admin;

/**
 * How many rows the table has, by state.
 *
 * @param held held now
 * @param expired ran out without a release
 * @param free released
 */
public record LockCounts(long held, long expired, long free) {

    /** All rows. */
    public long total() {
        return held + expired + free;
    }
}
