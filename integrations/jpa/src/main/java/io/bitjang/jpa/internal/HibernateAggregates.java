// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import io.bitjang.Wait;
import io.bitjang.jpa.AggregateBusyException;
import io.bitjang.jpa.AggregateDeadlockException;
import io.bitjang.jpa.AggregateTimeoutException;
import io.bitjang.jpa.StaleAggregateException;
import io.bitjang.jpa.internal.RowLocks.NotLocked;
import jakarta.persistence.EntityNotFoundException;
import jakarta.persistence.PersistenceException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.hibernate.Hibernate;
import org.hibernate.HibernateException;
import org.hibernate.LockMode;
import org.hibernate.UnresolvableObjectException;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.Status;
import org.hibernate.event.spi.EventType;
import org.hibernate.event.spi.PreUpdateEventListener;
import org.hibernate.event.spi.RefreshContext;
import org.hibernate.metamodel.mapping.EntityIdentifierMapping;
import org.hibernate.metamodel.mapping.JdbcMapping;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.persister.entity.UnionSubclassEntityPersister;
import org.hibernate.type.descriptor.java.JavaType;
import org.jspecify.annotations.Nullable;

/** What only Hibernate's own interfaces can do. Not thread-safe, like its session. */
public final class HibernateAggregates {

    private final SessionImplementor session;

    /** In this session. */
    public HibernateAggregates(SessionImplementor session) {
        this.session = session;
    }

    /** The transaction can only be rolled back from now on. */
    public void rollbackOnly() {
        session.markForRollbackOnly();
    }

    /** Locks the aggregates in the order of their ids, and makes them current, in the order that they were asked for. */
    public <T> List<T> lock(Class<T> type, List<?> ids, Wait wait) {
        EntityPersister persister = session.getFactory().getMappingMetamodel().getEntityDescriptor(type);
        if (persister instanceof UnionSubclassEntityPersister) {
            throw new UnsupportedOperationException(
                    type.getName()
                            + " has a table for each of its subclasses (TABLE_PER_CLASS): there is no row that could be locked");
        }
        List<Found> found = lockRows(persister, type, ids, wait);
        if (found.size() < ids.size()) {
            // one of them may be new here, and not written yet
            session.flush();
            found = lockRows(persister, type, ids, wait);
        }
        List<EntityKey> keys =
                ids.stream().map(id -> session.generateEntityKey(id, persister)).toList();
        List<@Nullable Object> before = versions(keys);
        // what was changed here so far would be lost when the aggregates are read anew
        session.flush();
        List<@Nullable Object> after = versions(keys);
        List<T> locked = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            Object version = version(persister, type, ids.get(i), found);
            boolean movedHere = after.get(i) != null && !after.get(i).equals(before.get(i));
            locked.add(current(type, keys.get(i), movedHere ? after.get(i) : version));
        }
        return locked;
    }

    private List<@Nullable Object> versions(List<EntityKey> keys) {
        PersistenceContext context = session.getPersistenceContextInternal();
        List<@Nullable Object> versions = new ArrayList<>();
        for (EntityKey key : keys) {
            Object known = context.getEntity(key);
            EntityEntry entry = known == null ? null : context.getEntry(known);
            versions.add(entry == null ? null : entry.getVersion());
        }
        return versions;
    }

    /** A row that was locked. */
    private record Found(List<Object> id, Object version) {}

    /** The database may tell an id in another form than it was asked for: 1.0 for 1.00, or padded with blanks. */
    private Object version(EntityPersister persister, Class<?> type, Object id, List<Found> found) {
        List<Object> asked = new ArrayList<>();
        List<JdbcMapping> kinds = new ArrayList<>();
        persister
                .getIdentifierMapping()
                .breakDownJdbcValues(
                        id,
                        (at, value, column) -> {
                            asked.add(value);
                            kinds.add(column.getJdbcMapping());
                        },
                        session);
        for (Found row : found) {
            if (found.size() == 1 || same(kinds, row.id(), asked)) {
                return row.version();
            }
        }
        throw new EntityNotFoundException(type.getSimpleName() + " " + id + " is not there");
    }

    private static boolean same(List<JdbcMapping> kinds, List<Object> one, List<Object> other) {
        for (int i = 0; i < kinds.size(); i++) {
            @SuppressWarnings("unchecked")
            JavaType<Object> kind = (JavaType<Object>) kinds.get(i).getJdbcJavaType();
            if (!kind.areEqual(one.get(i), other.get(i))) {
                return false;
            }
        }
        return true;
    }

    private List<Found> lockRows(EntityPersister persister, Class<?> type, List<?> ids, Wait wait) {
        EntityIdentifierMapping key = persister.getIdentifierMapping();
        List<String> keys = List.of(persister.getRootTableIdentifierColumnNames());
        List<JdbcMapping> kinds = new ArrayList<>();
        key.forEachJdbcType((index, kind) -> kinds.add(kind));
        JdbcMapping versionKind = persister.getVersionMapping().getJdbcMapping();
        RowLocks.Rows rows = new RowLocks.Rows(
                persister.getRootTableName(),
                keys,
                Stream.concat(keys.stream(), Stream.of(persister.getVersionColumnName()))
                        .toList(),
                ids.size(),
                statement -> bind(key, ids, statement));
        try {
            return session.doReturningWork(connection -> RowLocks.of(connection)
                    .lock(
                            connection,
                            rows,
                            row -> {
                                List<Object> id = new ArrayList<>();
                                for (JdbcMapping kind : kinds) {
                                    id.add(read(kind, row, id.size() + 1));
                                }
                                return new Found(id, read(versionKind, row, keys.size() + 1));
                            },
                            wait));
        } catch (NotLocked e) {
            rollbackOnly();
            throw failure(type, ids.size() == 1 ? ids.get(0) : ids, wait, e);
        }
    }

    private Object read(JdbcMapping kind, ResultSet row, int index) throws SQLException {
        return Objects.requireNonNull(kind.getJdbcValueExtractor().extract(row, index, session));
    }

    @SuppressWarnings("unchecked")
    private void bind(EntityIdentifierMapping key, List<?> ids, PreparedStatement statement) throws SQLException {
        int index = 1;
        for (Object id : ids) {
            List<Object> values = new ArrayList<>();
            List<JdbcMapping> kinds = new ArrayList<>();
            key.breakDownJdbcValues(
                    id,
                    (at, value, column) -> {
                        values.add(value);
                        kinds.add(column.getJdbcMapping());
                    },
                    session);
            for (int i = 0; i < values.size(); i++) {
                kinds.get(i).getJdbcValueBinder().bind(statement, values.get(i), index++, session);
            }
        }
    }

    private static PersistenceException failure(Class<?> type, Object id, Wait wait, NotLocked e) {
        String what = type.getSimpleName() + " " + id;
        Throwable cause = e.getCause();
        return switch (e.outcome()) {
            case DEADLOCK ->
                new AggregateDeadlockException(
                        type, id, what + " could not be locked: two transactions wait for each other", cause);
            case STALE -> new StaleAggregateException(type, id, stale(what), cause);
            case NOT_IN_TIME, ENDED_BY_SERVER ->
                wait.equals(Wait.none())
                        ? new AggregateBusyException(type, id, what + " is locked by another transaction", cause)
                        : new AggregateTimeoutException(
                                type, id, what + " is locked by another transaction, waited " + wait, cause);
            case FAILED -> new PersistenceException(what + " could not be locked: " + cause, (Exception) cause);
        };
    }

    private static String stale(String what) {
        return what
                + " was changed after this transaction had begun to read, which does not see it: lock before reading";
    }

    private <T> T current(Class<T> type, EntityKey key, Object version) {
        PersistenceContext context = session.getPersistenceContextInternal();
        boolean known = context.getEntity(key) != null;
        T aggregate = session.find(type, key.getIdentifier());
        if (aggregate == null) {
            throw new EntityNotFoundException(type.getSimpleName() + " " + key.getIdentifier() + " is not there");
        }
        Object entity = Hibernate.unproxy(aggregate);
        EntityPersister persister =
                Objects.requireNonNull(context.getEntry(entity)).getPersister();
        if (known || !version.equals(persister.getVersion(entity))) {
            session.refresh(entity);
        }
        refreshParts(key);
        if (!version.equals(persister.getVersion(entity))) {
            rollbackOnly();
            throw new StaleAggregateException(
                    type, key.getIdentifier(), stale(type.getSimpleName() + " " + key.getIdentifier()), null);
        }
        EntityEntry entry = Objects.requireNonNull(context.getEntry(entity));
        if (entry.getLockMode().lessThan(LockMode.PESSIMISTIC_WRITE)) {
            entry.setLockMode(LockMode.PESSIMISTIC_WRITE);
        }
        return aggregate;
    }

    /** What was read before may have been changed before the lock was had. */
    private void refreshParts(EntityKey aggregate) {
        VersionMover mover = mover();
        if (mover == null) {
            return;
        }
        PersistenceContext context = session.getPersistenceContextInternal();
        for (Map.Entry<Object, EntityEntry> each : context.reentrantSafeEntityEntries()) {
            Object part = each.getKey();
            String name = each.getValue().getPersister().getEntityName();
            if (each.getValue().getStatus() != Status.MANAGED || !mover.parts().isPart(name)) {
                continue;
            }
            try {
                if (mover.parts().isPartOf(session, part, aggregate)) {
                    // past the conversion of exceptions, which would cost the transaction
                    session.asEventSource().refresh(name, part, RefreshContext.create());
                }
            } catch (UnresolvableObjectException e) {
                // another has removed it
                session.detach(part);
            }
        }
    }

    /** Moves the version, unless it has moved in this transaction. */
    public void move(Object aggregate) {
        session.flush();
        VersionMover mover = mover();
        if (mover == null || !mover.moves()) {
            throw new IllegalStateException("Versions are not kept by Bitjang here: " + AggregateIntegrator.SWITCH
                    + " is false, or its Hibernate integrator was not found");
        }
        try {
            mover.move(session, Hibernate.unproxy(aggregate));
        } catch (HibernateException e) {
            throw session.getExceptionConverter().convert(e);
        }
    }

    private @Nullable VersionMover mover() {
        for (PreUpdateEventListener listener : session.getFactory()
                .getEventEngine()
                .getListenerRegistry()
                .getEventListenerGroup(EventType.PRE_UPDATE)
                .listeners()) {
            if (listener instanceof VersionMover mover) {
                return mover;
            }
        }
        return null;
    }
}
