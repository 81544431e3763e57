// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.work.Workers;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;

/** Waits for leases on behalf of callers who left a promise instead of a thread. Thread-safe. */
final class WaitsWithoutThread {

    private final LeaseEngine engine;
    private final Waiting waiting;
    private final Workers workers;

    /** Those of whom one attempt is made on another thread; they stand in no queue. */
    private final Set<LeaseWaiter> attemptedOnce = ConcurrentHashMap.newKeySet();

    WaitsWithoutThread(LeaseEngine engine, Waiting waiting, Workers workers) {
        this.engine = engine;
        this.waiting = waiting;
        this.workers = workers;
    }

    /** Completes the promise in any case: with the lease, or with the reason why there is none. */
    CompletableFuture<Lease> acquire(LeaseWaiter waiter, Wait wait) {
        CompletableFuture<Lease> promise = promised(waiter);
        if (wait.equals(Wait.none())) {
            attemptedOnce.add(waiter);
            waiter.result().whenComplete((lease, reason) -> attemptedOnce.remove(waiter));
            workers.execute(() -> attemptOnce(waiter));
            engine.failIfClosed(waiter);
            return promise;
        }
        if (!waiter.deadline().isNever()) {
            ScheduledFuture<?> timer =
                    workers.after(waiter.deadline().remainingNanos(), () -> waiter.fail(waiter.timedOut()));
            waiter.result()
                    .whenComplete((lease, reason) -> Optional.ofNullable(timer).ifPresent(t -> t.cancel(false)));
        }
        engine.enqueue(waiter);
        return promise;
    }

    private CompletableFuture<Lease> promised(LeaseWaiter waiter) {
        CompletableFuture<Lease> promise = new CompletableFuture<>();
        waiter.result()
                .whenCompleteAsync(
                        (lease, reason) -> {
                            waiting.left(waiter);
                            if (reason != null) {
                                promise.completeExceptionally(reason);
                            } else if (!promise.complete(lease)) {
                                lease.closeUnwanted();
                            }
                        },
                        workers::complete);
        promise.whenComplete((lease, reason) -> {
            if (promise.isCancelled()) {
                LockName name = waiter.names().get(0);
                waiter.fail(new LockException(name, "The wait for " + name + " was cancelled", null));
            }
        });
        return promise;
    }

    private void attemptOnce(LeaseWaiter waiter) {
        try {
            LeaseHandle lease = engine.tryAcquire(waiter.names(), waiter.request);
            waiter.refused(null);
            if (lease == null) {
                waiter.fail(waiter.timedOut());
            } else if (!waiter.serve(lease)) {
                lease.closeUnwanted();
            }
        } catch (LockException e) {
            waiter.fail(e);
        } catch (RuntimeException e) {
            LockName name = waiter.names().get(0);
            waiter.fail(engine.isClosed() ? LeaseEngine.closing() : Attempts.failed(name, e));
        }
    }

    /** Fails those of whom an attempt is still to be made, or under way. */
    void failAll(LockException reason) {
        attemptedOnce.forEach(waiter -> waiter.fail(reason));
    }
}
