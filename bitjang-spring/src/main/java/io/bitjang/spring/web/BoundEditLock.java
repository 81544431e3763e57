// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockId;
import io.bitjang.LockName;

/** The lock of one request, on that request's thread. */
final class BoundEditLock implements EditLock {

    private final LockId id;
    private boolean kept;

    BoundEditLock(LockId id) {
        this.id = id;
    }

    @Override
    public LockId id() {
        return id;
    }

    @Override
    public LockName name() {
        return id.name();
    }

    @Override
    public long fence() {
        return id.fence();
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
        return id.toString();
    }
}
