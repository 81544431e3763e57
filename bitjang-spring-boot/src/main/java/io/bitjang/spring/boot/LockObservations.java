// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.boot;

import io.bitjang.LockManager;

/** Watches what is asked of a lock manager. Apart from Micrometer, which may not be there. */
@FunctionalInterface
interface LockObservations {

    /** The same lock manager, watched. */
    LockManager around(LockManager manager);
}
