// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockDeadlockException;
import io.bitjang.LockException;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.dao.PessimisticLockingFailureException;

/** Spring's exceptions for Bitjang's. */
public final class LockExceptions {

    private LockExceptions() {}

    /** Spring's exception, with Bitjang's as its cause. */
    public static DataAccessException translate(LockException e) {
        String message = String.valueOf(e.getMessage());
        // a deadlock as Spring has those of the database itself: one more who did not get a lock
        if (e instanceof AlreadyLockedException || e instanceof LockDeadlockException) {
            return new CannotAcquireLockException(message, e);
        }
        if (e instanceof NoLockException) {
            return new PessimisticLockingFailureException(message, e);
        }
        if (e instanceof LockingFailException) {
            return new DataAccessResourceFailureException(message, e);
        }
        return new NonTransientDataAccessResourceException(message, e);
    }
}
