// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import jakarta.persistence.PessimisticLockException;
import org.jspecify.annotations.Nullable;

/** Two transactions wait for each other's aggregates, and the database chose this one to give up. The transaction must be rolled back. */
public final class AggregateDeadlockException extends PessimisticLockException implements AggregateFailure {

    private static final long serialVersionUID = 1L;

    private final Class<?> aggregateType;
    private final transient Object aggregateId;

    /** For this aggregate. */
    public AggregateDeadlockException(
            Class<?> aggregateType, Object aggregateId, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.aggregateType = aggregateType;
        this.aggregateId = aggregateId;
    }

    @Override
    public Class<?> aggregateType() {
        return aggregateType;
    }

    @Override
    public Object aggregateId() {
        return aggregateId;
    }
}
