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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.hibernate.LockMode;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.event.spi.EventType;
import org.hibernate.event.spi.PreUpdateEventListener;
import org.hibernate.metamodel.mapping.EntityIdentifierMapping;
import org.hibernate.metamodel.mapping.JdbcMapping;
import org.hibernate.persister.entity.EntityPersister;
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
        // what was changed here so far would be lost when the aggregates are read anew
        session.flush();
        Map<List<Object>, Object> versions = lockRows(persister, type, ids, wait);
        List<T> locked = new ArrayList<>();
        for (Object id : ids) {
            Object version = versions.get(columns(persister, id));
            if (version == null) {
                throw new EntityNotFoundException(type.getSimpleName() + " " + id + " is not there");
            }
            locked.add(current(persister, type, id, version));
        }
        return locked;
    }

    private Map<List<Object>, Object> lockRows(EntityPersister persister, Class<?> type, List<?> ids, Wait wait) {
        EntityIdentifierMapping key = persister.getIdentifierMapping();
        List<String> keys = List.of(persister.getIdentifierColumnNames());
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
            Map<List<Object>, Object> versions = new HashMap<>();
            session.doWork(connection -> RowLocks.of(connection)
                    .lock(
                            connection,
                            rows,
                            row -> {
                                List<Object> id = new ArrayList<>();
                                for (JdbcMapping kind : kinds) {
                                    id.add(read(kind, row, id.size() + 1));
                                }
                                return versions.put(id, read(versionKind, row, keys.size() + 1));
                            },
                            wait));
            return versions;
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

    /** The id as the database tells it. */
    private List<Object> columns(EntityPersister persister, Object id) {
        List<Object> values = new ArrayList<>();
        persister.getIdentifierMapping().breakDownJdbcValues(id, (at, value, column) -> values.add(value), session);
        return values;
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

    private <T> T current(EntityPersister persister, Class<T> type, Object id, Object version) {
        PersistenceContext context = session.getPersistenceContextInternal();
        boolean known = context.getEntity(session.generateEntityKey(id, persister)) != null;
        T aggregate = session.find(type, id);
        if (aggregate == null) {
            throw new EntityNotFoundException(type.getSimpleName() + " " + id + " is not there");
        }
        if (known || !version.equals(persister.getVersion(aggregate))) {
            session.refresh(aggregate);
            refreshParts(aggregate);
        }
        if (!version.equals(persister.getVersion(aggregate))) {
            rollbackOnly();
            throw new StaleAggregateException(type, id, stale(type.getSimpleName() + " " + id), null);
        }
        Objects.requireNonNull(context.getEntry(aggregate)).setLockMode(LockMode.PESSIMISTIC_WRITE);
        return aggregate;
    }

    /** What was read before may have been changed before the lock was had. */
    private void refreshParts(Object aggregate) {
        VersionMover mover = mover();
        if (mover == null) {
            return;
        }
        PersistenceContext context = session.getPersistenceContextInternal();
        for (Map.Entry<Object, EntityEntry> each : context.reentrantSafeEntityEntries()) {
            Object part = each.getKey();
            boolean managed = each.getValue().getStatus() == org.hibernate.engine.spi.Status.MANAGED;
            if (managed
                    && mover.parts().index(each.getValue().getPersister()) >= 0
                    && isPartOf(mover, part, aggregate)) {
                try {
                    session.refresh(part);
                } catch (EntityNotFoundException e) {
                    session.detach(part);
                }
            }
        }
    }

    private boolean isPartOf(VersionMover mover, Object part, Object aggregate) {
        Object root = mover.parts().rootOf(session, part);
        return root != null
                && org.hibernate.Hibernate.isInitialized(root)
                && org.hibernate.Hibernate.unproxy(root) == aggregate;
    }

    /** Moves the version, unless it has moved in this transaction. */
    public void move(Object aggregate) {
        session.flush();
        VersionMover mover = mover();
        if (mover == null) {
            throw new IllegalStateException("Versions are not kept by Bitjang here: " + AggregateIntegrator.SWITCH
                    + " is false, or its Hibernate integrator was not found");
        }
        mover.move(session, aggregate);
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
