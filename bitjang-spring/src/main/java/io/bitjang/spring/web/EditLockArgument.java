// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockId;
import io.bitjang.LockName;
import org.jspecify.annotations.Nullable;

/** What a handler gets as its parameter. Parameters are made before the guard decides, so the lock comes into it later. */
final class EditLockArgument implements EditLock {

    private @Nullable BoundEditLock lock;

    void bind(BoundEditLock bound) {
        this.lock = bound;
    }

    private BoundEditLock lock() {
        if (lock == null) {
            throw new IllegalStateException("No guard stands before this handler");
        }
        return lock;
    }

    @Override
    public LockId id() {
        return lock().id();
    }

    @Override
    public LockName name() {
        return lock().name();
    }

    @Override
    public long fence() {
        return lock().fence();
    }

    @Override
    public void keep() {
        lock().keep();
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return lock == null ? "EditLock" : lock.toString();
    }
}
