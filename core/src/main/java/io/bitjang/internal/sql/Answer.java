// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

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
public record Answer(
        @Nullable String secret,
        long fence,
        boolean wanted,
        boolean reentered,
        boolean takenOver,
        @Nullable LockRow holder) {

    private static final int REENTERED = 1;
    private static final int WANTED = 2;
    static final int TAKEN_OVER = 4;

    /** Not granted. */
    public static Answer refused(@Nullable LockRow holder) {
        return new Answer(null, 0, false, false, false, holder);
    }

    /** From a number that carries the fence times 8 and flags. */
    static Answer granted(String secret, long encoded) {
        int flags = (int) (encoded & 7);
        return new Answer(
                secret, encoded >> 3, (flags & WANTED) != 0, (flags & REENTERED) != 0, (flags & TAKEN_OVER) != 0, null);
    }

    /** From the row as it was after the attempt. */
    public static Answer of(LockRow row, Claim claim) {
        boolean own = row.isOf(claim.secret());
        boolean again = !own && claim.again() != null && claim.again().equals(row.owner()) && row.held();
        if (!own && !again) {
            return refused(row);
        }
        return new Answer(row.lockId(), row.fence(), row.wanted(), again, own && row.takenFrom() != null, null);
    }

    /** Whether the number of an update says that another process waits. */
    public static boolean wanted(OptionalLong encoded) {
        return encoded.isPresent() && (encoded.getAsLong() & WANTED) != 0;
    }

    /** Whether it was granted. */
    public boolean granted() {
        return secret != null;
    }

    /** The secret of a grant. */
    public String grantedSecret() {
        if (secret == null) {
            throw new IllegalStateException("Not granted");
        }
        return secret;
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return granted() ? "granted #" + fence : "refused";
    }
}
