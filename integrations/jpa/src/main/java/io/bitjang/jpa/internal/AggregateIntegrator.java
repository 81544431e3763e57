// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import java.util.Map;
import org.hibernate.boot.Metadata;
import org.hibernate.boot.spi.BootstrapContext;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.service.spi.EventListenerRegistry;
import org.hibernate.event.spi.EventType;
import org.hibernate.integrator.spi.Integrator;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;

/** Found by Hibernate, and switched off by {@value #SWITCH}. */
public final class AggregateIntegrator implements Integrator {

    /** The setting. */
    public static final String SWITCH = "bitjang.jpa.versions";

    @Override
    public void integrate(
            Metadata metadata, BootstrapContext bootstrapContext, SessionFactoryImplementor sessionFactory) {
        Parts parts = Parts.of(metadata);
        Map<String, Object> settings = sessionFactory.getProperties();
        boolean off = "false".equals(String.valueOf(settings.get(SWITCH)));
        Movements movements = off ? null : new Movements();
        VersionMover mover = new VersionMover(parts, movements);
        for (PersistentClass entity : metadata.getEntityBindings()) {
            Property version = entity.getVersion();
            if (movements != null && version != null && version.getValueGeneratorCreator() == null) {
                version.setValueGeneratorCreator(context -> new OncePerTransaction(
                        movements, context.getPersistentClass().getEntityName()));
            }
        }
        EventListenerRegistry listeners = sessionFactory.getEventEngine().getListenerRegistry();
        listeners.appendListeners(EventType.PRE_INSERT, mover);
        listeners.appendListeners(EventType.PRE_UPDATE, mover);
        listeners.appendListeners(EventType.PRE_DELETE, mover);
        listeners.appendListeners(EventType.POST_INSERT, mover);
        listeners.appendListeners(EventType.PRE_COLLECTION_RECREATE, mover);
        listeners.appendListeners(EventType.PRE_COLLECTION_UPDATE, mover);
        listeners.appendListeners(EventType.PRE_COLLECTION_REMOVE, mover);
        listeners.appendListeners(EventType.FLUSH, mover);
        listeners.appendListeners(EventType.AUTO_FLUSH, mover);
    }
}
