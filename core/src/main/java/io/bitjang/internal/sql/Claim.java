// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import org.jspecify.annotations.Nullable;

/**
 * What someone who wants a lock asks for.
 *
 * @param secret the random part of the lock id, chosen before the request is sent
 * @param owner in whose name
 * @param micros for how long
 * @param note for people
 * @param again the owner who may re-enter; null for none
 * @param reserve how many fences more are set aside, for those to whom it passes on without a statement
 */
public record Claim(
        String secret,
        String owner,
        long micros,
        @Nullable String note,
        @Nullable String again,
        int reserve) {

    /** Tells whether whoever asks has the lock of this row already, and may re-enter. */
    boolean mayReenter(LockRow row) {
        return again != null && again.equals(row.owner()) && row.held();
    }

    /** Describes the claim without its secret. */
    @Override
    public String toString() {
        return "claim of " + owner;
    }
}
