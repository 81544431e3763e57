// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Locks that a database session holds, as this database has them. The statements with a {@code :key} answer with one row: 1 for
 * yes, 0 for no, null for a failure, and the number of the session that they ran in. Immutable.
 */
public interface SessionDialect {

    /** Tells whether one session holds many locks; if not, each is held by a transaction of its own, which stays open. */
    boolean shares();

    /** Makes the key of a lock from the hash of its name and name space: a number or a text. */
    Object key(byte[] hash);

    /**
     * Asks where the tables are ({@code :schema}, null for the connection's own, and {@code :prefix}), as the server resolves it
     * and not as it was spelled: all who use the same tables share the locks, and nobody else. There is nothing to ask if the locks
     * are in the tables.
     */
    default Optional<String> space() {
        return Optional.empty();
    }

    /** Makes sure that there is something to lock, where a lock is held by a transaction. Run in a transaction of its own. */
    default Optional<String> prepare() {
        return Optional.empty();
    }

    /** Takes the lock if it is free, without waiting. */
    String attempt();

    /** Waits for the lock, up to {@code :millis} or {@code :seconds}. */
    String await();

    /** Gives the lock back. */
    String release();

    /** Gives all locks of the session back, where the end of its transaction does not. */
    default Optional<String> releaseAll() {
        return Optional.empty();
    }

    /** Asks whether this session holds the lock. */
    String holds();

    /** Asks which session this is; the first column is 1. */
    String session();

    /** Takes the lock, without waiting, until the end of the transaction, where a transaction can hold one. */
    default Optional<String> attemptInTransaction() {
        return Optional.empty();
    }

    /**
     * Tells whether a transaction above READ COMMITTED sees the data as they were at its first statement, be it the one that takes the
     * lock: then it would not see what the holder before it has committed.
     */
    default boolean readsAsOfItsFirstStatement() {
        return false;
    }

    /** Asks for rows of a name and a value, which tell whether session locks can be trusted here, unless they always can. */
    default Optional<String> circumstances() {
        return Optional.empty();
    }

    /** Says why session locks can't be trusted here; null if they can. */
    default @Nullable String unfit(Map<String, String> circumstances) {
        return null;
    }

    /** Tells whether a pooler may stand in between that changes the session after each transaction. */
    default boolean mayBePooled() {
        return false;
    }
}
