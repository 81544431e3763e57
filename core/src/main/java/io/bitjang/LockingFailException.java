// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import org.jspecify.annotations.Nullable;

/** The database failed, or the outcome is unknown because its answer never came. Never means: someone else has the lock. */
public final class LockingFailException extends LockException {

    private static final long serialVersionUID = 1L;

    /** With the database's own exception as cause. */
    public LockingFailException(@Nullable LockName name, String message, @Nullable Throwable cause) {
        super(name, message, cause);
    }
}
