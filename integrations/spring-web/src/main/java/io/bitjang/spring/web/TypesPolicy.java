// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockName;
import java.security.Principal;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Locks of these types, and of no other, as the application's own policy has it; without one for everyone who is signed in, taking
 * over only from oneself. Without types the policy alone decides. Immutable.
 */
record TypesPolicy(Set<String> types, @Nullable EditLockPolicy own) implements EditLockPolicy {

    @Override
    public boolean mayEdit(Principal person, LockName name) {
        return own == null
                ? types.contains(name.type())
                : (types.isEmpty() || types.contains(name.type())) && own.mayEdit(person, name);
    }

    @Override
    public boolean mayTakeOver(Principal person, LockData held) {
        return own == null ? person.getName().equals(held.owner()) : own.mayTakeOver(person, held);
    }
}
