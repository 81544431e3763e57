// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A class whose fields are guarded by one lock, taken for a few instructions. */
public abstract class Locked {

    private final ReentrantLock lock = new ReentrantLock();

    /** Makes the lock of a class that keeps its state under it. */
    protected Locked() {}

    /** Runs the body under the lock; nothing else is called there. */
    protected final <T extends @Nullable Object> T locked(Supplier<T> body) {
        lock.lock();
        try {
            return body.get();
        } finally {
            lock.unlock();
        }
    }
}
