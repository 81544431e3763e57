// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Wait;
import io.bitjang.internal.time.Deadline;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One who waits, as a thread or not. It is served once: by a lease, or by the reason why there is none. Thread-safe. */
final class Waiter {

    final List<LockName> names;
    final Request request;
    final Deadline deadline;
    private final Wait wait;
    private final CompletableFuture<LeaseHandle> result = new CompletableFuture<>();
    private volatile boolean answered;
    private volatile @Nullable LockException failure;
    private volatile @Nullable LockData holder;

    Waiter(List<LockName> names, Request request, Wait wait) {
        this.names = names;
        this.request = request;
        this.wait = wait;
        this.deadline = Deadline.of(wait.limit());
    }

    /** Hands over the lease; false if the waiter has gone. */
    boolean serve(LeaseHandle lease) {
        return result.complete(lease);
    }

    /** Ends the wait; false if it had ended. */
    boolean fail(LockException reason) {
        return result.completeExceptionally(reason);
    }

    boolean isDone() {
        return result.isDone();
    }

    CompletableFuture<LeaseHandle> result() {
        return result;
    }

    /** The last attempt was refused. */
    void refused(@Nullable LockData by) {
        answered = true;
        failure = null;
        holder = by != null ? by : holder;
    }

    /** The last attempt failed. */
    void failed(LockException reason) {
        failure = reason;
    }

    /** Waits on the calling thread, never past the deadline. */
    Lease await() {
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

    /** Why there is no lease at the deadline. */
    LockException timedOut() {
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
                    name, "Waited for " + name + " " + wait + ", and the database has not answered", null);
        }
        return new AlreadyLockedException(name, holder, " (waited " + wait + ")");
    }
}
