// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import io.bitjang.LockName;
import java.util.function.Supplier;

/**
 * Watches attempts to take a lock, for traces and the like. A bean of this type stands around each attempt of {@link Locked}, but for
 * reactive methods, and of {@link LockTemplate}. Must be thread-safe.
 */
public interface LockObserver {

    /**
     * Makes the attempt and returns, or throws, what it does.
     *
     * @param operation {@code lease} or {@code session}
     * @param name the lock; there is no end of names, so they are no tag of a meter
     */
    <T> T around(String operation, LockName name, Supplier<T> attempt);
}
