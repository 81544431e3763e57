// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.hibernate.Hibernate;
import org.hibernate.MappingException;
import org.hibernate.boot.Metadata;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.mapping.Component;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;
import org.hibernate.mapping.ToOne;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.proxy.HibernateProxy;
import org.hibernate.proxy.LazyInitializer;
import org.jspecify.annotations.Nullable;

/** Which entities are parts of others, by the attribute that says so. Immutable. */
final class Parts {

    private final Map<String, String> attributes;

    private Parts(Map<String, String> attributes) {
        this.attributes = attributes;
    }

    /**
     * From the mappings.
     *
     * @throws MappingException if one does not lead to a root with a version
     */
    static Parts of(Metadata metadata) {
        Map<String, String> attributes = new HashMap<>();
        for (PersistentClass entity : metadata.getEntityBindings()) {
            if (entity.getMappedClass() != null) {
                String attribute = attribute(entity);
                if (attribute != null) {
                    attributes.put(entity.getEntityName(), attribute);
                }
            }
        }
        attributes.keySet().forEach(part -> requireRoot(metadata, attributes, part));
        return new Parts(Map.copyOf(attributes));
    }

    private static @Nullable String attribute(PersistentClass entity) {
        for (Property property : entity.getPropertyClosure()) {
            if (property.getValue() instanceof Component value
                    && value.getComponentClass() != null
                    && !Marks.of(value.getComponentClass()).isEmpty()) {
                throw new MappingException("@PartOf belongs on an attribute of an entity, not of the value "
                        + value.getComponentClassName() + " in " + entity.getClassName());
            }
        }
        Set<String> marked = Marks.of(entity.getMappedClass());
        if (marked.isEmpty()) {
            return null;
        }
        Set<String> found = entity.getPropertyClosure().stream()
                .filter(property -> property.getValue() instanceof ToOne)
                .map(Property::getName)
                .filter(marked::contains)
                .collect(Collectors.toSet());
        if (marked.size() != 1 || found.size() != 1) {
            throw new MappingException(entity.getClassName()
                    + " must have exactly one @PartOf, on an attribute that is a"
                    + " @ManyToOne or a @OneToOne and no part of the id (use @MapsId for that); it is on " + marked);
        }
        return found.iterator().next();
    }

    private static void requireRoot(Metadata metadata, Map<String, String> attributes, String part) {
        Set<String> seen = new TreeSet<>();
        String at = part;
        while (attributes.containsKey(at)) {
            if (!seen.add(at)) {
                throw new MappingException("Each is a @PartOf the other, none is the root: " + seen);
            }
            PersistentClass entity = metadata.getEntityBinding(at);
            at = ((ToOne) entity.getProperty(attributes.get(at)).getValue()).getReferencedEntityName();
        }
        PersistentClass root = metadata.getEntityBinding(at);
        if (root == null || !root.isVersioned()) {
            throw new MappingException(part + " is a @PartOf " + at + ", which has no @Version that could move");
        }
    }

    /** Where the state of such an entity names what it is part of; -1 if it is part of nothing. */
    int index(EntityPersister persister) {
        String attribute = attributes.get(persister.getEntityName());
        if (attribute == null) {
            return -1;
        }
        String[] names = persister.getPropertyNames();
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(attribute)) {
                return i;
            }
        }
        throw new IllegalStateException(persister.getEntityName() + " has no " + attribute);
    }

    /** Whether entities of this name are parts of others. */
    boolean isPart(@Nullable String entityName) {
        return entityName != null && attributes.containsKey(entityName);
    }

    /** The managed root of what is referred to, which may be itself; null if it belongs to none any more. */
    @Nullable
    Object rootOf(SharedSessionContractImplementor session, Object reference) {
        Object at = managed(session, reference);
        while (at != null && isPart(entryOf(session, at).getPersister().getEntityName())) {
            Object parent = parentOf(session, at);
            at = parent == null ? null : managed(session, parent);
        }
        return at;
    }

    /** Whether a managed entity is a part of this aggregate. Reads no other aggregate for that. */
    boolean isPartOf(SharedSessionContractImplementor session, Object entity, EntityKey aggregate) {
        Object at = entity;
        while (at != null && isPart(entryOf(session, at).getPersister().getEntityName())) {
            Object parent = parentOf(session, at);
            EntityKey key = parent == null ? null : keyOf(session, parent);
            if (parent == null || key == null) {
                return false;
            }
            if (key.equals(aggregate)) {
                return true;
            }
            at = isPart(key.getPersister().getEntityName()) ? managed(session, parent) : null;
        }
        return false;
    }

    private static EntityEntry entryOf(SharedSessionContractImplementor session, Object managed) {
        return Objects.requireNonNull(session.getPersistenceContextInternal().getEntry(managed));
    }

    /** A part that was taken out of its aggregate forgets it, but was read as a part of it. */
    private @Nullable Object parentOf(SharedSessionContractImplementor session, Object managed) {
        EntityEntry entry = entryOf(session, managed);
        int index = index(entry.getPersister());
        Object parent = entry.getPersister().getValue(managed, index);
        return parent == null && entry.getLoadedState() != null ? entry.getLoadedState()[index] : parent;
    }

    private static @Nullable EntityKey keyOf(SharedSessionContractImplementor session, Object reference) {
        EntityEntry entry = session.getPersistenceContextInternal().getEntry(reference);
        if (entry != null) {
            return entry.getEntityKey();
        }
        LazyInitializer lazy = HibernateProxy.extractLazyInitializer(reference);
        EntityPersister persister = lazy == null
                ? session.getEntityPersister(null, reference)
                : session.getFactory().getMappingMetamodel().getEntityDescriptor(lazy.getEntityName());
        Object id = lazy == null ? persister.getIdentifier(reference, session) : lazy.getInternalIdentifier();
        return id == null ? null : session.generateEntityKey(id, persister);
    }

    /** What is referred to, by a proxy or a detached copy perhaps, as this session has it; null if it is not there. */
    private static @Nullable Object managed(SharedSessionContractImplementor session, Object reference) {
        EntityKey key = keyOf(session, reference);
        if (key == null) {
            return null;
        }
        Object known = session.getPersistenceContextInternal().getEntity(key);
        if (known != null) {
            Hibernate.initialize(known);
            return known;
        }
        Object read = session.internalLoad(key.getPersister().getEntityName(), key.getIdentifier(), true, true);
        return read == null ? null : Hibernate.unproxy(read);
    }
}
