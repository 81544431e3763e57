// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import org.hibernate.collection.spi.AbstractPersistentCollection;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.AbstractCollectionEvent;
import org.hibernate.event.spi.AutoFlushEvent;
import org.hibernate.event.spi.AutoFlushEventListener;
import org.hibernate.event.spi.FlushEvent;
import org.hibernate.event.spi.FlushEventListener;
import org.hibernate.event.spi.PostInsertEvent;
import org.hibernate.event.spi.PostInsertEventListener;
import org.hibernate.event.spi.PreCollectionRecreateEvent;
import org.hibernate.event.spi.PreCollectionRecreateEventListener;
import org.hibernate.event.spi.PreCollectionRemoveEvent;
import org.hibernate.event.spi.PreCollectionRemoveEventListener;
import org.hibernate.event.spi.PreCollectionUpdateEvent;
import org.hibernate.event.spi.PreCollectionUpdateEventListener;
import org.hibernate.event.spi.PreDeleteEvent;
import org.hibernate.event.spi.PreDeleteEventListener;
import org.hibernate.event.spi.PreInsertEvent;
import org.hibernate.event.spi.PreInsertEventListener;
import org.hibernate.event.spi.PreUpdateEvent;
import org.hibernate.event.spi.PreUpdateEventListener;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.persister.entity.JoinedSubclassEntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Moves the version of a root before a part of it is written. By then the versions of all roots that have changed themselves have
 * moved, because Hibernate decides on those before it writes anything. Thread-safe.
 */
final class VersionMover
        implements PreInsertEventListener,
                PreUpdateEventListener,
                PreDeleteEventListener,
                PostInsertEventListener,
                PreCollectionRecreateEventListener,
                PreCollectionUpdateEventListener,
                PreCollectionRemoveEventListener,
                FlushEventListener,
                AutoFlushEventListener {

    private static final long serialVersionUID = 1L;

    private final transient Parts parts;
    private final transient @Nullable Movements movements;

    /** Without movements, it knows the parts and moves nothing. */
    VersionMover(Parts parts, @Nullable Movements movements) {
        this.parts = parts;
        this.movements = movements;
    }

    Parts parts() {
        return parts;
    }

    boolean moves() {
        return movements != null;
    }

    @Override
    public boolean onPreInsert(PreInsertEvent event) {
        written(event.getSession(), event.getPersister(), event.getState());
        return false;
    }

    @Override
    public boolean onPreUpdate(PreUpdateEvent event) {
        SharedSessionContractImplementor session = event.getSession();
        if (movements != null && session.isEventSource()) {
            movements.written(session, session.generateEntityKey(event.getId(), event.getPersister()));
        }
        written(session, event.getPersister(), event.getState());
        written(session, event.getPersister(), event.getOldState());
        return false;
    }

    @Override
    public boolean onPreDelete(PreDeleteEvent event) {
        written(event.getSession(), event.getPersister(), event.getDeletedState());
        return false;
    }

    /** A new root has a new version as it is. */
    @Override
    public void onPostInsert(PostInsertEvent event) {
        EntityPersister persister = event.getPersister();
        SharedSessionContractImplementor session = event.getSession();
        if (movements != null && persister.isVersioned() && session.isEventSource()) {
            movements.moved(session, session.generateEntityKey(event.getId(), persister));
        }
    }

    @Override
    public boolean requiresPostCommitHandling(EntityPersister persister) {
        return false;
    }

    @Override
    public void onFlush(FlushEvent event) {
        forgetPlans(event.getSession());
    }

    @Override
    public void onAutoFlush(AutoFlushEvent event) {
        forgetPlans(event.getSession());
    }

    private void forgetPlans(SharedSessionContractImplementor session) {
        if (movements != null) {
            movements.forgetPlans(session);
        }
    }

    @Override
    public void onPreRecreateCollection(PreCollectionRecreateEvent event) {
        collectionWritten(event);
    }

    @Override
    public void onPreUpdateCollection(PreCollectionUpdateEvent event) {
        collectionWritten(event);
    }

    @Override
    public void onPreRemoveCollection(PreCollectionRemoveEvent event) {
        collectionWritten(event);
    }

    /** A collection that is written with its owner; those of a root move its version without us. */
    private void collectionWritten(AbstractCollectionEvent event) {
        Object owner = event.getAffectedOwnerOrNull();
        if (owner == null
                || !parts.isPart(event.getAffectedOwnerEntityName())
                || event.getCollectionPersister().isInverse()
                || !(event.getCollection() instanceof AbstractPersistentCollection<?> collection)) {
            return;
        }
        // the event of a stateless session has none
        SharedSessionContractImplementor session = collection.getSession();
        if (session != null && session.isEventSource()) {
            moveRootOf(session, owner);
        }
    }

    private void written(
            SharedSessionContractImplementor session, EntityPersister persister, Object @Nullable [] state) {
        if (state == null || !session.isEventSource()) {
            return;
        }
        int index = parts.index(persister);
        if (index >= 0 && state[index] != null) {
            moveRootOf(session, state[index]);
        }
    }

    private void moveRootOf(SharedSessionContractImplementor session, Object entity) {
        Object root = movements == null ? null : parts.rootOf(session, entity);
        if (root != null) {
            move(session, root);
        }
    }

    /** Moves the version of a root that is managed, unless it has moved in this transaction. */
    void move(SharedSessionContractImplementor session, Object root) {
        EntityEntry entry = session.getPersistenceContextInternal().getEntry(root);
        if (movements == null
                || entry == null
                || !entry.isExistsInDatabase()
                || entry.getStatus().isDeletedOrGone()
                || movements.isMoving(session, entry.getEntityKey())) {
            return;
        }
        movements.moved(session, entry.getEntityKey());
        EntityPersister persister = entry.getPersister();
        // the version of a subclass with a table of its own stands in the table of the root
        EntityPersister writer = persister instanceof JoinedSubclassEntityPersister
                ? persister.getRootEntityDescriptor().getEntityPersister()
                : persister;
        Object next = writer.forceVersionIncrement(entry.getId(), entry.getVersion(), session);
        if (entry.getLoadedState() == null) {
            persister.setValue(root, persister.getVersionPropertyIndex(), next);
        } else {
            entry.forceLocked(root, next);
        }
        Movements.evict(session, entry.getEntityKey());
    }
}
