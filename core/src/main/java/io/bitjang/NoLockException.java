// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The caller does not hold the lock: it expired, was released, was taken by another, or never was. */
public class NoLockException extends LockException {

    private static final long serialVersionUID = 1L;

    private final @Nullable String takenAwayBy;

    /** With the reason, as far as it is known. */
    public NoLockException(LockName name, String message, @Nullable Throwable cause) {
        this(name, message, null, cause);
    }

    /** With who took the lock away, and why. */
    public NoLockException(LockName name, String message, @Nullable String takenAwayBy, @Nullable Throwable cause) {
        super(name, message, cause);
        this.takenAwayBy = takenAwayBy;
    }

    /** If an operator took the lock away, and nobody has had it since: who it was and why, for people. */
    public Optional<String> takenAwayBy() {
        return Optional.ofNullable(takenAwayBy);
    }
}
