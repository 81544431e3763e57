// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.sql;

import io.bitjang.NoLockException;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Why a lock is not held any more.
 *
 * @param kind what became of it
 * @param why what is said of it to people
 * @param takenAwayBy if an operator took it away: who it was and why
 */
public record Gone(Kind kind, String why, @Nullable String takenAwayBy) {

    /** What became of a lock, beginning with what tells least. */
    public enum Kind {
        /** It was released. */
        RELEASED,
        /** It ran out, another has taken it, or its row is gone. */
        LOST,
        /** An operator took it away, and nobody has had it since. */
        TAKEN_AWAY
    }

    /** Makes the reason of a loss. */
    public static Gone lost(String why) {
        return new Gone(Kind.LOST, why, null);
    }

    /** Says which operator took the lock away, and why. */
    public static Gone takenAway(String by) {
        return new Gone(Kind.TAKEN_AWAY, "it was taken away by " + by, by);
    }

    /** Says why a lock is not held any more under this key; null if it is. */
    public static @Nullable Gone of(@Nullable LockRow row, GrantKey key) {
        if (row == null) {
            return lost("its row is gone");
        }
        if (row.isOf(key.secret())) {
            return row.held() ? null : lost("it expired");
        }
        if (row.covers(key.fence())) {
            return row.forced() != null ? takenAway(row.forced()) : new Gone(Kind.RELEASED, "it was released", null);
        }
        return lost(
                row.held()
                        ? "it was taken by " + row.owner() + " (fence " + row.fence() + ")"
                        : "another had it since");
    }

    /** Returns the reason that tells most. */
    public static Gone mostTelling(Collection<Gone> reasons) {
        return Collections.max(reasons, Comparator.comparing(Gone::kind));
    }

    /** Makes the exception that tells the holder why the lock is not held, and what follows from that. */
    public NoLockException notHeld(GrantKey key, String consequence, @Nullable Throwable cause) {
        String message = key.name() + " is not held any more (fence " + key.fence() + "): " + why + consequence;
        return new NoLockException(key.name(), message, takenAwayBy, cause);
    }
}
