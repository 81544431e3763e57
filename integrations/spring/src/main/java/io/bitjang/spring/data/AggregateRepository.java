// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import io.bitjang.Wait;
import io.bitjang.jpa.VersionToken;
import java.util.Collection;
import java.util.List;

/**
 * Safe changes of aggregates, for a Spring Data JPA repository that names this next to its other interfaces:
 *
 * <pre>{@code
 * interface Orders extends JpaRepository<Order, Long>, AggregateRepository<Order, Long> {}
 * }</pre>
 *
 * <p>Nothing is to be configured. What {@link io.bitjang.jpa.AggregateLocks} promises holds here too, with the entity manager of the
 * repository. Thread-safe, like every repository.
 *
 * <p>Each call needs the transaction of the service that calls it. Unlike the other methods of a repository these begin none: a lock
 * that ends with the call would protect nothing. Exceptions are Spring's, and have Bitjang's as their cause. After an exception the
 * transaction can only be rolled back, but for a missing aggregate and bad arguments.
 *
 * @param <T> the root of the aggregate, with a {@code @Version}
 * @param <ID> its id
 */
public interface AggregateRepository<T, ID> {

    /**
     * Locks an aggregate until the transaction ends, and returns it as it is then, its parts included.
     *
     * @param wait to the millisecond, on every database
     * @throws org.springframework.dao.CannotAcquireLockException if another transaction has it, or had it for longer than the wait; the
     *     cause is an {@link io.bitjang.jpa.AggregateBusyException} or an {@link io.bitjang.jpa.AggregateTimeoutException}
     * @throws org.springframework.dao.PessimisticLockingFailureException if the database found a deadlock, or if the transaction began
     *     to read before and would see parts as they were then; the cause is an {@link io.bitjang.jpa.AggregateDeadlockException} or a
     *     {@link io.bitjang.jpa.StaleAggregateException}
     * @throws org.springframework.orm.ObjectRetrievalFailureException if there is none with this id
     * @throws org.springframework.dao.InvalidDataAccessApiUsageException without a transaction, or in a read-only one
     */
    T lock(ID id, Wait wait);

    /**
     * Locks several aggregates in the order of their ids, so that two callers never deadlock. Throws what {@link #lock} throws.
     *
     * @param wait for all of them together; on H2, for each
     * @return the aggregates in the order that they were asked for, each once
     */
    List<T> lockAll(Collection<? extends ID> ids, Wait wait);

    /**
     * Returns an aggregate if it has the version that a form came with.
     *
     * @param version a {@link VersionToken}, or the value of the version attribute
     * @throws org.springframework.orm.ObjectOptimisticLockingFailureException if it has another version: someone saved it after the
     *     form was made. The cause is a {@link io.bitjang.jpa.VersionConflictException}; if two save at the same time, it is not
     * @throws org.springframework.orm.ObjectRetrievalFailureException if there is none with this id
     */
    T atVersion(ID id, Object version);

    /**
     * Moves the version of an aggregate, by one for the whole transaction, whatever else changes in it. The new version can be read
     * at once.
     *
     * @throws org.springframework.orm.ObjectOptimisticLockingFailureException if another has moved it meanwhile
     * @throws org.springframework.orm.ObjectRetrievalFailureException if there is none with this id
     */
    T forceIncrement(ID id);

    /**
     * The version of an aggregate as it will be when the transaction commits, for a form or an ETag. Writes what has changed so far;
     * ask when all is changed.
     */
    VersionToken versionOf(T aggregate);
}
