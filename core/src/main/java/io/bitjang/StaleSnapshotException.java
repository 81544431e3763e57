// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

/**
 * The guarded transaction began to read before the lock was granted, so it may work on data that the former holder has changed
 * since. Take the lock first, then begin the transaction.
 */
public final class StaleSnapshotException extends NoLockException {

    private static final long serialVersionUID = 1L;

    /** For this lock. */
    public StaleSnapshotException(LockName name) {
        super(
                name,
                "The transaction's snapshot is older than the grant of " + name
                        + ": it was rolled back. Take the lock before the transaction begins to read.",
                null);
    }
}
