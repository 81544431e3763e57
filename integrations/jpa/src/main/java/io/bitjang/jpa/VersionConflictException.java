// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import jakarta.persistence.OptimisticLockException;

/**
 * Someone saved the aggregate after the form was made: the form is old. If two save at the same time, the provider's own {@link
 * OptimisticLockException}, the parent of this one, says so when they commit.
 */
public final class VersionConflictException extends OptimisticLockException implements AggregateFailure {

    private static final long serialVersionUID = 1L;

    private final Class<?> aggregateType;
    private final transient Object aggregateId;
    private final transient Object given;
    private final transient Object found;

    /** With the version of the form and that of the aggregate as it is now. */
    public VersionConflictException(Class<?> aggregateType, Object aggregateId, Object given, Object found) {
        super(
                aggregateType.getSimpleName() + " " + aggregateId
                        + " was changed meanwhile: the version of the form is " + given + ", that of the aggregate "
                        + found,
                null,
                null);
        this.aggregateType = aggregateType;
        this.aggregateId = aggregateId;
        this.given = given;
        this.found = found;
    }

    @Override
    public Class<?> aggregateType() {
        return aggregateType;
    }

    @Override
    public Object aggregateId() {
        return aggregateId;
    }

    /** The version that the form came with. */
    public Object given() {
        return given;
    }

    /** The version that the aggregate has. */
    public Object found() {
        return found;
    }
}
