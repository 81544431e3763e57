// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockName;
import java.security.Principal;
import java.util.Set;

/** The default: locks of these types for everyone who is signed in, taking over only from oneself. Immutable. */
record TypesPolicy(Set<String> types) implements EditLockPolicy {

    @Override
    public boolean mayEdit(Principal person, LockName name) {
        return types.contains(name.type());
    }

    @Override
    public boolean mayTakeOver(Principal person, LockData held) {
        return person.getName().equals(held.owner());
    }
}
