// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.engine.spi.TransactionCompletionCallbacks.AfterCompletionCallback;

/** Whose version has moved in the present transaction of a session. Thread-safe. */
final class Movements {

    private final Map<SharedSessionContractImplementor, Set<EntityKey>> moved =
            Collections.synchronizedMap(new WeakHashMap<>());

    /** False if it had moved already. */
    boolean begin(SharedSessionContractImplementor session, EntityKey entity) {
        return moved.computeIfAbsent(session, this::untilItEnds).add(entity);
    }

    private Set<EntityKey> untilItEnds(SharedSessionContractImplementor session) {
        AfterCompletionCallback forget = (success, ended) -> moved.remove(session);
        session.asEventSource().getActionQueue().registerCallback(forget);
        return new HashSet<>();
    }
}
