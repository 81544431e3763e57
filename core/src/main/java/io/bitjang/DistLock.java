// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.time.Duration;

/**
 * A lock by name and owner, without a handle and without renewal: for jobs that know how long they take at most.
 *
 * <p>It re-enters by owner: a caller that passes the current owner's name re-acquires the lock, which then lasts at least the
 * duration from now. So processes that use the same owner name share the lock, and the first of them that calls {@link #unlock} frees
 * it for all: give each process its own. Names are apart from those of {@link LeaseLock}: their type is {@value #TYPE}. Thread-safe.
 */
public interface DistLock {

    /** The type in the names of these locks. */
    String TYPE = "dist";

    /**
     * Takes the lock if it is free or expired, or extends it if this owner has it already (same lock id, same fence, never a
     * shorter expiry).
     *
     * @return false if another owner has it
     * @throws LockingFailException if the database fails: never a {@code false}
     */
    boolean tryLock(String name, String owner, Duration duration);

    /**
     * Frees the lock that this instance took or re-acquired for this owner, even if another process has re-acquired it under the same
     * owner name since.
     *
     * @throws NoLockException if this instance did not take it for this owner, or another has taken it since
     */
    void unlock(String name, String owner);
}
