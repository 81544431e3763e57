// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.work;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Wait;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A caller who waits, as a thread or not. It is served once: by what it waits for, or by the reason why there is none.
 * Thread-safe.
 */
public class Waiter<T> {

    /** What those should know for whom a pool may have had no connection: others who wait may have it. */
    public static final String SMALL_POOL = "With only one or two connections in the pool, set notifications(false).";

    private final List<LockName> names;
    private final Deadline deadline;
    private final Wait wait;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private volatile boolean answered;
    private volatile @Nullable LockException failure;
    private volatile @Nullable LockData holder;

    /** Makes a waiter that waits from now on. */
    public Waiter(Ticker ticker, List<LockName> names, Wait wait) {
        this.names = names;
        this.wait = wait;
        this.deadline = ticker.in(wait.limit());
    }

    /** Returns the locks that this waiter waits for. */
    public final List<LockName> names() {
        return names;
    }

    /** Returns until when this waiter waits. */
    public final Deadline deadline() {
        return deadline;
    }

    /** Hands the waiter what it waits for; false if the waiter has gone. */
    public final boolean serve(T served) {
        return result.complete(served);
    }

    /** Ends the wait; false if it had ended. */
    public final boolean fail(LockException reason) {
        return result.completeExceptionally(reason);
    }

    /** Tells whether the waiter was served, or has gone. */
    public final boolean isDone() {
        return result.isDone();
    }

    /** Returns the future of what the waiter waits for. */
    public final CompletableFuture<T> result() {
        return result;
    }

    /** Notes that the last attempt was refused. */
    public final void refused(@Nullable LockData by) {
        answered = true;
        failure = null;
        holder = by != null ? by : holder;
    }

    /** Learns what one who has waited for longer was told; returns whether it was told who has the lock. */
    public final boolean learnFrom(Waiter<T> other) {
        failure = other.failure;
        answered = other.answered;
        holder = other.holder;
        return holder != null;
    }

    /** Notes that the last attempt failed. */
    public final void failed(LockException reason) {
        failure = reason;
    }

    /** Waits on the calling thread, never past the deadline. */
    public final T await() {
        try {
            return result.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            fail(timedOut());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            fail(new LockException(names.get(0), "Interrupted while waiting for " + names.get(0), e));
        } catch (ExecutionException e) {
            // thrown below
        }
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof LockException reason) {
                throw reason;
            }
            throw e;
        }
    }

    /** Makes the exception that says why there is nothing at the deadline. */
    public final LockException timedOut() {
        LockName name = names.get(0);
        LockException last = failure;
        if (last != null) {
            return new LockingFailException(
                    name,
                    "Waited for " + name + " " + wait + ", and the last attempt failed: " + last.getMessage(),
                    last);
        }
        if (!answered) {
            return new LockingFailException(
                    name,
                    "Waited for " + name + " " + wait + ", and the database has not answered. " + SMALL_POOL,
                    null);
        }
        return new AlreadyLockedException(name, holder, wait.equals(Wait.none()) ? "" : " (waited " + wait + ")");
    }
}
