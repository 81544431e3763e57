// SPDX-License-Identifier: Apache-2.0
package io.bitjang.admin;

import io.bitjang.LockData;
import io.bitjang.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** For operators: what is locked, by whom, and how to take it away. Never shows a lock id. Thread-safe. */
public interface LockAdmin {

    /** One page of the locks that match, in the order of type and id. */
    List<LockData> list(LockFilter filter);

    /** What is known about one lock; empty if it was never taken, or swept. */
    Optional<LockData> find(LockName name);

    /**
     * What this process holds and waits for: leases, and session locks, which stand in no table. Asks no database. Offline locks and
     * locks by owner are nobody's here: any process may check, extend and release them.
     */
    List<LocalLock> here();

    /** How many rows there are, by state. */
    LockCounts counts();

    /**
     * Takes a lock away from its holder, if its fence is still the one that the operator saw. The holder is told at its next
     * renewal at the latest, and no transaction that it guards afterwards can commit.
     *
     * @param by who takes it away
     * @param reason why: the holder and the audit trail get to read it
     * @return false if the lock is free, or its fence moved on
     * @throws io.bitjang.LockingFailException if the database fails, or a guarded transaction stayed open for too long
     */
    boolean forceRelease(LockName name, long expectedFence, String by, String reason);

    /**
     * Removes the rows of locks that nobody has held for this long. Their fences still grow afterwards.
     *
     * @param idleFor at least one hour
     * @return how many were removed
     */
    int sweep(Duration idleFor);

    /** The latest entries of the audit trail, the newest first; empty unless it is switched on. */
    List<AuditEntry> audit(int limit);
}
