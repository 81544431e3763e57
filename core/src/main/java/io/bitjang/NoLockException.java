// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import org.jspecify.annotations.Nullable;

/** The caller does not hold the lock: it expired, was released, was taken by another, or never was. */
public class NoLockException extends LockException {

    private static final long serialVersionUID = 1L;

    /** With the reason, as far as it is known. */
    public NoLockException(LockName name, String message, @Nullable Throwable cause) {
        super(name, message, cause);
    }
}
