// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The root of everything that goes wrong with a lock. */
public class LockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable LockName name;

    /** With the lock that it is about, if it is about one. */
    public LockException(@Nullable LockName name, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.name = name;
    }

    /** The lock that it is about. */
    public Optional<LockName> name() {
        return Optional.ofNullable(name);
    }
}
