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
 */
record Request(
        String owner,
        Duration duration,
        @Nullable String note,
        @Nullable String again,
        @Nullable Duration maxHold,
        @Nullable Duration notFreeBefore) {

    static Request of(String owner, Duration duration, @Nullable String note) {
        return new Request(owner, duration, note, null, null, null);
    }

    Claim claim(String secret) {
        return new Claim(secret, owner, Limits.micros(duration), note, again);
    }
}
