// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import java.util.EnumSet;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.internal.VersionGeneration;
import org.hibernate.metamodel.mapping.EntityVersionMapping;
import org.jspecify.annotations.Nullable;

/** The next version of an entity: the present one, if it has moved in this transaction. */
final class OncePerTransaction implements BeforeExecutionGenerator {

    private static final long serialVersionUID = 1L;

    private final transient Movements movements;
    private final String entityName;

    OncePerTransaction(Movements movements, String entityName) {
        this.movements = movements;
        this.entityName = entityName;
    }

    @Override
    public EnumSet<EventType> getEventTypes() {
        return EventTypeSets.ALL;
    }

    @Override
    public Object generate(
            SharedSessionContractImplementor session, @Nullable Object owner, Object current, EventType event) {
        if (event == EventType.UPDATE && owner != null && session.isEventSource()) {
            EntityEntry entry = session.getPersistenceContextInternal().getEntry(owner);
            if (entry != null) {
                if (movements.hasMoved(session, entry.getEntityKey())) {
                    return current;
                }
                movements.plan(session, entry.getEntityKey());
            }
        }
        EntityVersionMapping mapping = session.getFactory()
                .getMappingMetamodel()
                .getEntityDescriptor(entityName)
                .getVersionMapping();
        return new VersionGeneration(mapping).generate(session, owner, current, event);
    }
}
