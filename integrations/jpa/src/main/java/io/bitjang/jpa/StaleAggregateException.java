// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import jakarta.persistence.PessimisticLockException;
import org.jspecify.annotations.Nullable;

/** The transaction has read before it locked the aggregate, which was changed since: it would not see what it has locked. The transaction must be rolled back; lock before reading, or read at READ COMMITTED. */
public final class StaleAggregateException extends PessimisticLockException implements AggregateFailure {

    private static final long serialVersionUID = 1L;

    private final Class<?> aggregateType;
    private final transient Object aggregateId;

    /** For this aggregate. */
    public StaleAggregateException(
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
