// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import org.jspecify.annotations.Nullable;

/** Why there are no locks, and what to do about it. */
final class LocksStartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    LocksStartException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    /** What to do. */
    String action() {
        return action;
    }
}
