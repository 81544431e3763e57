// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockId;
import io.bitjang.LockName;

/**
 * The lock under which a {@linkplain RequiresEditLock guarded handler} runs: a handler may declare a parameter of this type. Only
 * for the handler's own thread, while it runs.
 */
public interface EditLock {

    /** The id that the request came with: a secret, for the hidden field of the holder's own form. */
    LockId id();

    /** The lock. */
    LockName name();

    /** The number of the grant; no secret. */
    long fence();

    /** Keeps the lock when the transaction commits, for a form that stays open after saving. */
    void keep();
}
