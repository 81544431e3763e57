// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.hibernate.MappingException;
import org.hibernate.boot.Metadata;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;
import org.hibernate.mapping.ToOne;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.proxy.HibernateProxy;
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

    /** The root that an entity belongs to, which may be itself; null if it belongs to none any more. */
    @Nullable
    Object rootOf(SharedSessionContractImplementor session, Object entity) {
        PersistenceContext context = session.getPersistenceContextInternal();
        @Nullable Object at = entity;
        while (at != null) {
            if (attributes.isEmpty()) {
                return at;
            }
            Object loaded = at instanceof HibernateProxy proxy
                    ? isPart(proxy) ? proxy.getHibernateLazyInitializer().getImplementation() : null
                    : at;
            if (loaded == null) {
                return at;
            }
            EntityEntry entry = context.getEntry(loaded);
            EntityPersister persister = entry == null ? session.getEntityPersister(null, loaded) : entry.getPersister();
            int index = index(persister);
            if (index < 0) {
                return at;
            }
            Object parent = persister.getValue(loaded, index);
            // a part that was taken out of its aggregate forgets it, but was loaded as a part of it
            at = parent == null && entry != null && entry.getLoadedState() != null
                    ? entry.getLoadedState()[index]
                    : parent;
        }
        return null;
    }

    private boolean isPart(HibernateProxy proxy) {
        return attributes.containsKey(proxy.getHibernateLazyInitializer().getEntityName())
                || !proxy.getHibernateLazyInitializer().isUninitialized();
    }
}
