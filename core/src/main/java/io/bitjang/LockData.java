// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the database knows about a lock at the moment it was read. All times are the database's. It never holds the lock id.
 *
 * @param name the lock
 * @param held whether someone held it, by the database's clock
 * @param owner who holds it or, when free, held it last
 * @param fence the number of the latest grant
 * @param acquiredAt when the latest grant was made
 * @param expiresAt when it ends, or ended, unless it is renewed; null when it was released
 * @param remaining what was left of it at the moment of reading; zero when it is not held
 * @param note the holder's note
 * @param wanted whether another process has said that it waits for it; a wait that ended in vain may still show
 */
public record LockData(
        LockName name,
        boolean held,
        @Nullable String owner,
        long fence,
        @Nullable Instant acquiredAt,
        @Nullable Instant expiresAt,
        Duration remaining,
        @Nullable String note,
        boolean wanted) {

    /** The type in the lock's name. */
    public String type() {
        return name.type();
    }

    /** The id in the lock's name. */
    public String id() {
        return name.id();
    }

    /** Whether the lock ran out without being released, by the database's clock at the moment of reading. */
    public boolean isExpired() {
        return !held && expiresAt != null;
    }

    @Override
    public String toString() {
        if (!held) {
            return name + " is free (last fence " + fence + (isExpired() ? ", expired at " + expiresAt : "") + ")";
        }
        return name + " is held by " + owner + " since " + acquiredAt + " until " + expiresAt + " (fence " + fence + ")"
                + (note == null ? "" : ": " + note);
    }
}
