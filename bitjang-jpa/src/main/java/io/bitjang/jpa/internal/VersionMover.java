// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import org.hibernate.LockMode;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.AbstractCollectionEvent;
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
import org.hibernate.proxy.HibernateProxy;
import org.hibernate.proxy.LazyInitializer;
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
                PreCollectionRemoveEventListener {

    private static final long serialVersionUID = 1L;

    private final transient Parts parts;
    private final transient Movements movements;

    VersionMover(Parts parts, Movements movements) {
        this.parts = parts;
        this.movements = movements;
    }

    Parts parts() {
        return parts;
    }

    @Override
    public boolean onPreInsert(PreInsertEvent event) {
        written(event.getSession(), event.getPersister(), event.getState());
        return false;
    }

    @Override
    public boolean onPreUpdate(PreUpdateEvent event) {
        written(event.getSession(), event.getPersister(), event.getState());
        written(event.getSession(), event.getPersister(), event.getOldState());
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
        if (persister.isVersioned() && event.getSession().isEventSource()) {
            movements.begin(event.getSession(), event.getSession().generateEntityKey(event.getId(), persister));
        }
    }

    @Override
    public boolean requiresPostCommitHandling(EntityPersister persister) {
        return false;
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
        PersistentCollection<?> collection = event.getCollection();
        SharedSessionContractImplementor session = event.getSession();
        if (owner == null
                || collection == null
                || event.getCollectionPersister().isInverse()) {
            return;
        }
        EntityEntry entry = session.getPersistenceContextInternal().getEntry(owner);
        if (entry != null && parts.index(entry.getPersister()) >= 0) {
            moveRootOf(session, owner);
        }
    }

    private void written(
            SharedSessionContractImplementor session, EntityPersister persister, Object @Nullable [] state) {
        int index = state == null || !session.isEventSource() ? -1 : parts.index(persister);
        if (index >= 0 && state[index] != null) {
            moveRootOf(session, state[index]);
        }
    }

    private void moveRootOf(SharedSessionContractImplementor session, Object entity) {
        Object root = parts.rootOf(session, entity);
        if (root != null) {
            move(session, root);
        }
    }

    /** Moves the version of a root, unless it has moved in this transaction. */
    void move(SharedSessionContractImplementor session, Object root) {
        PersistenceContext context = session.getPersistenceContextInternal();
        LazyInitializer lazy = root instanceof HibernateProxy proxy ? proxy.getHibernateLazyInitializer() : null;
        Object loaded = lazy == null ? root : lazy.isUninitialized() ? null : lazy.getImplementation();
        EntityEntry entry = loaded == null ? null : context.getEntry(loaded);
        if (entry == null && lazy != null) {
            moveUnseen(session, lazy);
        } else if (entry != null
                && entry.isExistsInDatabase()
                && !entry.getStatus().isDeletedOrGone()
                && movements.begin(session, entry.getEntityKey())) {
            session.asEventSource().lock(loaded, LockMode.PESSIMISTIC_FORCE_INCREMENT);
        }
    }

    /** Nobody has read it, so nobody relies on the version that it has. */
    private void moveUnseen(SharedSessionContractImplementor session, LazyInitializer lazy) {
        EntityPersister persister =
                session.getFactory().getMappingMetamodel().getEntityDescriptor(lazy.getEntityName());
        Object id = lazy.getInternalIdentifier();
        EntityKey key = session.generateEntityKey(id, persister);
        if (movements.begin(session, key)) {
            Object version = persister.getCurrentVersion(id, session);
            if (version != null) {
                persister.forceVersionIncrement(id, version, session);
            }
        }
    }
}
