// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import jakarta.persistence.LockTimeoutException;
import org.jspecify.annotations.Nullable;

/** Another transaction had the aggregate for longer than this one wanted to wait. The transaction must be rolled back. */
public final class AggregateTimeoutException extends LockTimeoutException implements AggregateFailure {

    private static final long serialVersionUID = 1L;

    private final Class<?> aggregateType;
    private final transient Object aggregateId;

    /** For this aggregate. */
    public AggregateTimeoutException(
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
