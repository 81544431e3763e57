// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The database's answer to a claim.
 *
 * @param secret the random part under which the lock is held, if it was granted: the claim's own, or the older one that was
 *     re-entered
 * @param fence the number of the grant
 * @param wanted whether another process waits for the lock
 * @param reentered whether the owner had it already
 * @param takenOver whether it had expired in the hands of another
 * @param holder the row of the one who has it, if it was refused and that is known
 */
public record ClaimResult(
        @Nullable String secret,
        long fence,
        boolean wanted,
        boolean reentered,
        boolean takenOver,
        @Nullable LockRow holder) {

    private static final int REENTERED = 1;
    private static final int WANTED = 2;
    private static final int TAKEN_OVER = 4;

    /** Makes the answer to a claim that was not granted. */
    public static ClaimResult refused(@Nullable LockRow holder) {
        return new ClaimResult(null, 0, false, false, false, holder);
    }

    /** Reads a grant from a number that carries the fence times 8 and flags. */
    static ClaimResult granted(String secret, long encoded) {
        int flags = (int) (encoded & 7);
        return new ClaimResult(
                secret,
                valueIn(encoded),
                (flags & WANTED) != 0,
                (flags & REENTERED) != 0,
                (flags & TAKEN_OVER) != 0,
                null);
    }

    /** Reads a grant from the numbers of several rows, which get the largest fence among them. */
    static ClaimResult grantedTogether(String secret, List<Long> encoded) {
        long fence = encoded.stream().mapToLong(ClaimResult::valueIn).max().orElseThrow();
        return granted(
                secret,
                fence << 3 | encoded.stream().mapToLong(each -> each & 7).reduce(0, (a, b) -> a | b));
    }

    /** Returns what a number carries next to the flags: a fence, or a time. */
    static long valueIn(long encoded) {
        return encoded >> 3;
    }

    /** Returns the number that carries a row's fence, and whether the lock was taken over. */
    static long encoded(LockRow row) {
        return row.fence() << 3 | (row.takenFrom() != null ? TAKEN_OVER : 0);
    }

    /** Reads the answer from the row as it was after the attempt. */
    public static ClaimResult of(LockRow row, Claim claim) {
        boolean own = row.isOf(claim.secret());
        boolean again = !own && claim.mayReenter(row);
        if (!own && !again) {
            return refused(row);
        }
        return new ClaimResult(row.lockId(), row.fence(), row.wanted(), again, own && row.takenFrom() != null, null);
    }

    /** Tells whether the number of an update says that another process waits. */
    public static boolean wanted(OptionalLong encoded) {
        return encoded.isPresent() && (encoded.getAsLong() & WANTED) != 0;
    }

    /** Tells whether the claim was granted. */
    public boolean granted() {
        return secret != null;
    }

    /** Returns the secret of a grant. */
    public String grantedSecret() {
        if (secret == null) {
            throw new IllegalStateException("Not granted");
        }
        return secret;
    }

    /** Describes the answer without the secret. */
    @Override
    public String toString() {
        return granted() ? "granted #" + fence : "refused";
    }
}
