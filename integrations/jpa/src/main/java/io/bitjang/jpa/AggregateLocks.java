// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import io.bitjang.Wait;
import io.bitjang.jpa.internal.HibernateAggregates;
import io.bitjang.jpa.internal.Marks;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityNotFoundException;
import jakarta.persistence.PersistenceException;
import jakarta.persistence.TransactionRequiredException;
import jakarta.persistence.metamodel.EntityType;
import java.lang.invoke.MethodType;
import java.sql.Connection;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Changes aggregates so that two who do it at the same time never leave one in a state that neither of them saw. An aggregate is
 * named by its root, an entity with a {@code @Version}; its {@linkplain PartOf parts} belong to it.
 *
 * <p>Every call runs in the transaction of the entity manager and ends with it. After an exception the transaction can only be
 * rolled back, but for a missing aggregate and bad arguments. As thread-safe as the entity manager: Spring's shared one is, a plain
 * one is not.
 */
public final class AggregateLocks {

    private static final System.Logger LOG = System.getLogger("io.bitjang");
    private static final int MOST = 1000;

    private final EntityManager entityManager;

    private AggregateLocks(EntityManager entityManager) {
        this.entityManager = entityManager;
    }

    /** Over this entity manager. */
    public static AggregateLocks of(EntityManager entityManager) {
        return new AggregateLocks(Objects.requireNonNull(entityManager, "entityManager"));
    }

    /**
     * Locks an aggregate until the transaction ends, and returns it as it is then, its parts included.
     *
     * @param wait to the millisecond, on every database; one of less than 20 ms, but not none, is one of 20
     * @throws AggregateBusyException if another transaction has it, and the wait is {@link Wait#none()}
     * @throws AggregateTimeoutException if another transaction had it for longer than the wait
     * @throws AggregateDeadlockException if the database found a deadlock and gave up on this transaction
     * @throws StaleAggregateException if the transaction began to read before, and would see parts as they were then
     * @throws EntityNotFoundException if there is none with this id
     */
    public <T> T lock(Class<T> type, Object id, Wait wait) {
        Objects.requireNonNull(id, "id");
        return lockAll(type, List.of(id), wait).get(0);
    }

    /**
     * Locks several aggregates by one statement, in the order of their ids, so that two callers never deadlock. Throws what
     * {@link #lock} throws.
     *
     * @param wait for all of them together; on H2, for each
     * @return the aggregates in the order that they were asked for, each once
     */
    public <T> List<T> lockAll(Class<T> type, Collection<?> ids, Wait wait) {
        Objects.requireNonNull(wait, "wait");
        Class<?> idType = MethodType.methodType(
                        requireVersioned(type).getIdType().getJavaType())
                .wrap()
                .returnType();
        for (Object id : ids) {
            if (!idType.isInstance(Objects.requireNonNull(id, "id"))) {
                throw new IllegalArgumentException("The id of " + type.getSimpleName() + " is of type "
                        + idType.getSimpleName() + ", not " + id.getClass().getSimpleName() + ": " + id);
            }
        }
        List<?> each = List.copyOf(new LinkedHashSet<>(ids));
        if (each.size() > MOST) {
            throw new IllegalArgumentException("At most " + MOST + " aggregates at once, not " + each.size());
        }
        requireTransaction();
        return each.isEmpty() ? List.of() : hibernate("Locking an aggregate").lock(type, each, wait);
    }

    /**
     * Returns an aggregate if it has the version that a form came with.
     *
     * @param version a {@link VersionToken}, or the value of the version attribute
     * @throws VersionConflictException if it has another version: someone saved it after the form was made
     * @throws EntityNotFoundException if there is none with this id
     */
    public <T> T atVersion(Class<T> type, Object id, Object version) {
        VersionToken given = version instanceof VersionToken token ? token : VersionToken.of(version);
        T aggregate = find(type, id);
        Object found = version(aggregate);
        if (!VersionToken.of(found).equals(given)) {
            rollbackOnly();
            throw new VersionConflictException(type, id, given, found);
        }
        return aggregate;
    }

    /**
     * Moves the version of an aggregate, by one for the whole transaction, whatever else changes in it. The new version can be read
     * at once.
     *
     * @throws EntityNotFoundException if there is none with this id
     * @throws jakarta.persistence.OptimisticLockException if another has moved it meanwhile
     */
    public <T> T forceIncrement(Class<T> type, Object id) {
        T aggregate = find(type, id);
        hibernate("Moving a version").move(aggregate);
        return aggregate;
    }

    /**
     * The version of an aggregate as it will be when the transaction commits, for a form or an ETag. Writes what has changed so far;
     * ask when all is changed.
     *
     * @throws IllegalArgumentException if the aggregate is detached, or has no version
     */
    public VersionToken versionOf(Object aggregate) {
        requireTransaction();
        requireNoMarksInVain();
        if (!entityManager.contains(Objects.requireNonNull(aggregate, "aggregate"))) {
            throw new IllegalArgumentException("The aggregate is detached, its version is old news: "
                    + aggregate.getClass().getName());
        }
        entityManager.flush();
        return VersionToken.of(version(aggregate));
    }

    /**
     * Checks an offline lock inside of this transaction: nobody can take it over until it commits, together with the changes.
     *
     * @throws io.bitjang.NoLockException if the lock is gone
     */
    public void checkLock(LockManager manager, LockId lockId) {
        withConnection(connection -> manager.checkLock(connection, lockId));
    }

    /** Gives an offline lock back when, and only when, this transaction commits. */
    public void releaseLock(LockManager manager, LockId lockId) {
        entityManager.flush();
        withConnection(connection -> manager.releaseLock(connection, lockId));
    }

    /** Providers wrap what the work throws, each in its own way. */
    private void withConnection(Consumer<Connection> work) {
        requireTransaction();
        if (hibernate() == null) {
            // EclipseLink begins the transaction of the database when someone wants the connection, this way
            entityManager.unwrap(Connection.class);
        }
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        entityManager.<Connection>runWithConnection(connection -> {
            try {
                work.accept(connection);
            } catch (RuntimeException e) {
                failure.set(e);
            }
        });
        RuntimeException thrown = failure.get();
        if (thrown != null) {
            rollbackOnly();
            throw thrown;
        }
    }

    private void rollbackOnly() {
        HibernateAggregates hibernate = hibernate();
        if (hibernate != null) {
            hibernate.rollbackOnly();
            return;
        }
        try {
            entityManager.getTransaction().setRollbackOnly();
        } catch (IllegalStateException e) {
            // the transaction is not the entity manager's own: the exception that is about to be thrown ends it
            LOG.log(System.Logger.Level.DEBUG, "The transaction could not be marked", e);
        }
    }

    private <T> T find(Class<T> type, Object id) {
        Objects.requireNonNull(id, "id");
        requireVersioned(type);
        requireTransaction();
        requireNoMarksInVain();
        @Nullable T aggregate = entityManager.find(type, id);
        if (aggregate == null) {
            throw new EntityNotFoundException(type.getSimpleName() + " " + id + " is not there");
        }
        return aggregate;
    }

    private Object version(Object aggregate) {
        Object version =
                entityManager.getEntityManagerFactory().getPersistenceUnitUtil().getVersion(aggregate);
        if (version == null) {
            throw new IllegalArgumentException(aggregate.getClass().getName() + " has no version yet");
        }
        return version;
    }

    private <T> EntityType<T> requireVersioned(Class<T> type) {
        EntityType<T> entity = entityManager.getMetamodel().entity(Objects.requireNonNull(type, "type"));
        if (!entity.hasVersionAttribute()) {
            throw new IllegalArgumentException(
                    type.getName() + " has no @Version: without one nobody can tell whether it has changed");
        }
        return entity;
    }

    private void requireTransaction() {
        if (!entityManager.isJoinedToTransaction()) {
            throw new TransactionRequiredException("There is no transaction that a lock could end with");
        }
    }

    private HibernateAggregates hibernate(String what) {
        HibernateAggregates hibernate = hibernate();
        if (hibernate == null) {
            throw unsupported(what);
        }
        return hibernate;
    }

    private @Nullable HibernateAggregates hibernate() {
        try {
            return new HibernateAggregates(entityManager.unwrap(org.hibernate.engine.spi.SessionImplementor.class));
        } catch (PersistenceException | LinkageError e) {
            return null;
        }
    }

    private UnsupportedOperationException unsupported(String what) {
        return new UnsupportedOperationException(what + " needs Hibernate; this entity manager is of "
                + entityManager.getDelegate().getClass().getName());
    }

    /** Without Hibernate the marks would be without effect, and nobody would notice. */
    private void requireNoMarksInVain() {
        if (hibernate() == null) {
            for (EntityType<?> entity : entityManager.getMetamodel().getEntities()) {
                if (!Marks.of(entity.getJavaType()).isEmpty()) {
                    throw unsupported("@PartOf, as on " + entity.getJavaType().getName() + ",");
                }
            }
        }
    }
}
