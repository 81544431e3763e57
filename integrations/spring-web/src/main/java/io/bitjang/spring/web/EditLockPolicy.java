// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockName;
import java.security.Principal;

/**
 * Who may do what with an edit lock: a bean of the application's. It is asked about locks of the types in {@link
 * EditLockSettings#types()}, or about all if none are named there. Without one, locks of these types may be edited by everyone who is
 * signed in, and taken over only by the person who has them.
 *
 * <p>It is asked on every request, and for events on a thread of their own: decide by the arguments. Must be thread-safe.
 */
public interface EditLockPolicy {

    /** Whether this person may see and take the lock, and save what it protects. */
    boolean mayEdit(Principal person, LockName name);

    /**
     * Whether this person, who may edit, may take the lock away from its present holder.
     *
     * @param held the lock as it is held now
     */
    boolean mayTakeOver(Principal person, LockData held);
}
