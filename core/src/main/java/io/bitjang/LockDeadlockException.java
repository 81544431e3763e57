// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Threads wait for each other, or one for itself: nobody would ever get what they wait for. */
public final class LockDeadlockException extends LockException {

    private static final long serialVersionUID = 1L;

    private final transient List<LockName> cycle;

    /** With the locks that they wait for: first the one that was asked for, then each that its holder waits for. */
    public LockDeadlockException(List<LockName> cycle, String message, @Nullable Throwable cause) {
        super(cycle.get(0), message, cause);
        this.cycle = List.copyOf(cycle);
    }

    /** The locks of the cycle, as far as they are known. */
    public List<LockName> cycle() {
        return cycle;
    }
}
