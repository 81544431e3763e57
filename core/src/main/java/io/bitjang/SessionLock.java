// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A lock that a database session holds: one round trip to take, one to give back, no disk write, and gone by itself when the
 * session dies. For short critical sections; it has no guard and no fence, so what must not happen twice under any circumstances
 * wants a {@link LeaseLock}.
 *
 * <p>{@code try...} answers at once, {@code acquire} waits and throws. A lock that is held is refused to everybody else, the same
 * thread included: re-entrance is asked for, with {@link Hold#again()}. Immutable and thread-safe.
 */
public interface SessionLock {

    /** One attempt. Empty if someone else has it. */
    Optional<Hold> tryAcquire();

    /**
     * Waits for it: those of one process in the order of their arrival.
     *
     * @throws AlreadyLockedException if someone has it until the end of the wait; with {@link Wait#none()} that may be this
     *     thread
     * @throws LockDeadlockException if it would wait for a lock that this thread has already, or whose holder waits, in this
     *     process, for a lock that this thread holds
     * @throws LockingFailException if the database fails until the end of the wait, or such locks can't be trusted on it
     * @throws LockException if the thread is interrupted (its interrupt flag stays set), or too many locks are held
     * @throws NoLockException if it was granted and lost at once
     * @throws IllegalStateException if it would wait for ever while this thread holds another session lock
     */
    Hold acquire(Wait wait);

    /** Runs the task if nobody else has the lock; otherwise answers false. */
    <X extends Exception> boolean tryRun(Locks.Task<X> task) throws X;

    /** Waits, runs the task under the lock, releases. */
    <X extends Exception> void run(Wait wait, Locks.Task<X> task) throws X;

    /** Waits, calls the function under the lock, releases. */
    <T, X extends Exception> T call(Wait wait, Locks.Call<T, X> call) throws X;

    /** Waits up to the duration, computes under the lock, releases. */
    <T> T executeWithLock(Duration wait, Supplier<T> body);

    /**
     * Waits, calls the function under the lock, commits the caller's transaction and releases after that; or rolls it back if the
     * function fails. The session of this very connection has the lock, so it can't outlive the transaction.
     *
     * <p>Call it before the transaction reads anything: at REPEATABLE READ it would not see what was committed while it waited.
     * PostgreSQL and H2 could not help that at all, so there only READ COMMITTED is accepted.
     *
     * <p>A call inside another one, on the same connection, joins its transaction: the outermost commits and frees all. If an inner
     * function failed, the outermost rolls back, even if its own function has caught that.
     *
     * @param connection in a transaction of the caller's (auto-commit off)
     * @throws LockDeadlockException if the server says that two wait for each other; the transaction is rolled back
     * @throws IllegalStateException if the connection is in auto-commit mode, or at an isolation level that is not accepted
     */
    <T, X extends Exception> T callInTransaction(Connection connection, Wait wait, Locks.Call<T, X> call) throws X;

    /** A session lock that is held. Close it to give it back; closing twice is fine. Thread-safe. */
    interface Hold extends AutoCloseable {

        /** The lock. */
        LockName name();

        /** Whether it is held, as far as is known: a session's death is noticed within a second. */
        boolean isHeld();

        /** Holds it once more: it is given back when all its holds are closed. */
        Hold again();

        /** Calls back when it is lost, at once if it is lost already, on a thread of the library's. */
        Hold onLost(Consumer<Hold> callback);

        /** Gives it back. If it was lost and the holder was not told yet, throws {@link NoLockException}, once. */
        @Override
        void close();
    }
}
