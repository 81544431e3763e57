// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;

/**
 * A lock, or several taken together, that a process holds as a {@link Lease}: renewed in the background, ended by closing it,
 * by the death of the process or by an operator.
 *
 * <p>{@code try...} answers at once, {@code acquire} waits and throws. The settings ({@code lasting}, {@code owner}, ...) return a
 * changed copy: a LeaseLock is immutable and thread-safe.
 */
public interface LeaseLock {

    /** A lease of this duration (30 seconds unless set otherwise), renewed every third of it. */
    LeaseLock lasting(Duration duration);

    /** In the name of this owner: a label for people, it gives no right. */
    LeaseLock owner(String owner);

    /** With a note that others can read. */
    LeaseLock note(String note);

    /** Renewed for at most this long, so that a hung body does not hold the lock for ever. */
    LeaseLock maxHold(Duration duration);

    /**
     * Not free before this long after it was taken, even when closed earlier: for a job shorter than the clock skew of its
     * triggers.
     */
    LeaseLock notFreeBefore(Duration duration);

    /** One attempt. Empty if someone else has it. */
    Optional<Lease> tryAcquire();

    /**
     * Waits for it.
     *
     * @throws AlreadyLockedException if someone has it until the end of the wait; by a handle, or with {@link Wait#none()}, that may
     *     be this thread
     * @throws LockingFailException if the database fails until the end of the wait
     * @throws LockDeadlockException if it would wait for a lock that this thread has already by {@code run}, {@code call},
     *     {@code tryRun} or {@code asLock}
     * @throws LockException if the thread is interrupted; its interrupt flag stays set
     */
    Lease acquire(Wait wait);

    /** Waits for it without a thread. Fails as {@link #acquire} does; cancelling the stage's future ends the wait. */
    CompletionStage<Lease> acquireAsync(Wait wait);

    /** Runs the task if nobody else has the lock; otherwise answers false. */
    <X extends Exception> boolean tryRun(Locks.Task<X> task) throws X;

    /** Waits, runs the task under the lease, releases. */
    <X extends Exception> void run(Wait wait, Locks.Task<X> task) throws X;

    /** Waits, calls the function under the lease, releases. */
    <T, X extends Exception> T call(Wait wait, Locks.Call<T, X> call) throws X;

    /**
     * This lock as a {@link Lock}, re-entrant per thread. A thread that waits for it while it has the same name through another object
     * gets {@link LockDeadlockException}. {@code unlock} after a loss throws {@link
     * java.util.ConcurrentModificationException}; an inner {@code lock} after a loss throws {@link NoLockException}. Conditions are
     * not supported.
     */
    Lock asLock();
}
