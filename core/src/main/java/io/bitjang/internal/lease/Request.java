// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Claim;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a caller asks for, before a lock id is chosen for an attempt.
 *
 * @param owner in whose name
 * @param duration for how long
 * @param note for people
 * @param again the owner who may re-enter
 * @param maxHold how long it is renewed at most
 * @param notFreeBefore how long after it was taken it stays taken at least
 * @param unseen whether nobody gets to see the lease: then it can't be guarded, and may pass on without a statement
 */
record Request(
        String owner,
        Duration duration,
        @Nullable String note,
        @Nullable String again,
        @Nullable Duration maxHold,
        @Nullable Duration notFreeBefore,
        boolean unseen) {

    static Request of(String owner, Duration duration, @Nullable String note) {
        return new Request(owner, duration, note, null, null, null, false);
    }

    Claim claim(String secret, int reserve) {
        return new Claim(secret, owner, Limits.micros(duration), note, again, reserve);
    }

    Request lasting(Duration other) {
        return new Request(owner, other, note, again, maxHold, notFreeBefore, unseen);
    }

    Request ownedBy(String other) {
        return new Request(other, duration, note, again, maxHold, notFreeBefore, unseen);
    }

    Request noting(String other) {
        return new Request(owner, duration, other, again, maxHold, notFreeBefore, unseen);
    }

    Request heldAtMost(Duration other) {
        return new Request(owner, duration, note, again, other, notFreeBefore, unseen);
    }

    Request notFreeBefore(Duration other) {
        return new Request(owner, duration, note, again, maxHold, other, unseen);
    }

    /** Returns the same request, but for a lease that nobody gets to see. */
    Request asUnseen() {
        return new Request(owner, duration, note, again, maxHold, notFreeBefore, true);
    }

    /** Tells whether a lease that was asked for by this request may go to the next one without telling the database. */
    boolean passesOnTo(Request next) {
        return unseen && again == null && maxHold == null && notFreeBefore == null && equals(next);
    }
}
