// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import io.bitjang.LockException;
import io.bitjang.spring.internal.LockExceptions;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.support.PersistenceExceptionTranslator;

/**
 * Makes Spring's exceptions of Bitjang's, for {@code @Repository} beans. {@link Locked} and {@link LockTemplate} throw Spring's
 * anyway.
 *
 * <ul>
 *   <li>{@code AlreadyLockedException}, {@code LockDeadlockException}: {@code CannotAcquireLockException}
 *   <li>{@code NoLockException}, {@code StaleSnapshotException}: {@code PessimisticLockingFailureException}
 *   <li>{@code LockingFailException}: {@code DataAccessResourceFailureException}, because the database failed or did not answer
 *   <li>any other {@code LockException} (an interrupted wait): {@code NonTransientDataAccessResourceException}
 * </ul>
 *
 * <p>The first two are {@code ConcurrencyFailureException}s: worth another attempt. Bitjang's exception is the cause. Thread-safe.
 */
public final class LockExceptionTranslator implements PersistenceExceptionTranslator {

    /** Has no settings. */
    public LockExceptionTranslator() {}

    @Override
    public @Nullable DataAccessException translateExceptionIfPossible(RuntimeException ex) {
        return ex instanceof LockException lock ? LockExceptions.translate(lock) : null;
    }
}
