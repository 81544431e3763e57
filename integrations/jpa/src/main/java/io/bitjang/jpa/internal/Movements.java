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

/**
 * Whose version has moved in the present transaction of a session, and whose is about to. Hibernate plans the updates of a flush
 * before it runs them, and drops the plans if a query turns out not to need the flush. Thread-safe.
 */
final class Movements {

    private record Present(Set<EntityKey> planned, Set<EntityKey> moved) {}

    private final Map<SharedSessionContractImplementor, Present> sessions =
            Collections.synchronizedMap(new WeakHashMap<>());

    boolean hasMoved(SharedSessionContractImplementor session, EntityKey entity) {
        return present(session).moved.contains(entity);
    }

    /** Whether it has moved, or will in the flush that is under way. */
    boolean isMoving(SharedSessionContractImplementor session, EntityKey entity) {
        return hasMoved(session, entity) || present(session).planned.contains(entity);
    }

    void plan(SharedSessionContractImplementor session, EntityKey entity) {
        present(session).planned.add(entity);
    }

    /** It is written: if that was to move its version, it has moved. */
    void written(SharedSessionContractImplementor session, EntityKey entity) {
        if (present(session).planned.contains(entity)) {
            moved(session, entity);
        }
    }

    void moved(SharedSessionContractImplementor session, EntityKey entity) {
        present(session).moved.add(entity);
    }

    /** The flush is over, or was not needed. */
    void forgetPlans(SharedSessionContractImplementor session) {
        Present present = sessions.get(session);
        if (present != null) {
            present.planned.clear();
        }
    }

    private Present present(SharedSessionContractImplementor session) {
        return sessions.computeIfAbsent(session, this::untilItEnds);
    }

    private Present untilItEnds(SharedSessionContractImplementor session) {
        AfterCompletionCallback forget = (success, ended) -> {
            Present present = sessions.remove(session);
            if (present != null) {
                // what another has read into a shared cache meanwhile may be older
                present.moved.forEach(entity -> evict(session, entity));
            }
        };
        session.asEventSource().getActionQueue().registerCallback(forget);
        return new Present(new HashSet<>(), new HashSet<>());
    }

    static void evict(SharedSessionContractImplementor session, EntityKey entity) {
        session.getFactory().getCache().evictEntityData(entity.getEntityName(), entity.getIdentifier());
    }
}
