// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.dialect;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Locks that a database session holds, as this database has them. The statements with a {@code :key} answer with one row: 1 for
 * yes, 0 for no, null for a failure, and the number of the session that they ran in. Immutable.
 */
public interface SessionDialect {

    /** Whether one session holds many locks; if not, each is held by a transaction of its own, which stays open. */
    boolean shares();

    /** The key of a lock, from the hash of its name and name space: a number or a text. */
    Object key(byte[] hash);

    /**
     * Asks where the tables are ({@code :schema}, null for the connection's own, and {@code :prefix}), as the server resolves it
     * and not as it was spelled: all who use the same tables share the locks, and nobody else. Empty if the locks are in the tables.
     */
    String space();

    /** Makes sure that there is something to lock; empty where nothing is needed. Run in a transaction of its own. */
    default String prepare() {
        return "";
    }

    /** Takes the lock if it is free, without waiting. */
    String attempt();

    /** Waits for the lock, up to {@code :millis} or {@code :seconds}. */
    String await();

    /** Gives the lock back. */
    String release();

    /** Gives all locks of the session back; empty where the end of the transaction does. */
    String releaseAll();

    /** Asks whether this session holds the lock. */
    String holds();

    /** Asks which session this is; the first column is 1. */
    String session();

    /** Takes the lock, without waiting, until the end of the transaction; empty where a transaction can't hold one. */
    default String attemptInTransaction() {
        return "";
    }

    /**
     * Whether a transaction above READ COMMITTED sees the data as they were at its first statement, be it the one that takes the
     * lock: then it would not see what the holder before it has committed.
     */
    default boolean readsAsOfItsFirstStatement() {
        return false;
    }

    /** Asks for rows of a name and a value, which tell whether session locks can be trusted here; empty if they always can. */
    String circumstances();

    /** Says why session locks can't be trusted here; null if they can. */
    @Nullable
    String unfit(Map<String, String> circumstances);

    /** Whether a pooler may stand in between that changes the session after each transaction. */
    default boolean mayBePooled() {
        return false;
    }
}
