// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockId;
import io.bitjang.LockName;
import org.jspecify.annotations.Nullable;

/**
 * The lock of one request, on that request's thread. A handler's parameters are made before the guard decides, so the lock comes
 * into it later.
 */
final class BoundEditLock implements EditLock {

    private @Nullable LockId id;
    private boolean kept;

    void bind(LockId lockId) {
        this.id = lockId;
    }

    @Override
    public LockId id() {
        if (id == null) {
            throw new IllegalStateException("No guard stands before this handler");
        }
        return id;
    }

    @Override
    public LockName name() {
        return id().name();
    }

    @Override
    public long fence() {
        return id().fence();
    }

    @Override
    public void keep() {
        kept = true;
    }

    boolean kept() {
        return kept;
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return id == null ? "EditLock" : id.toString();
    }
}
