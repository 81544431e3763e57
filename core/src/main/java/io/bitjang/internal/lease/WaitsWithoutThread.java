// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.internal.sql.Plan;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Waits for leases on behalf of callers who left a promise instead of a thread. Thread-safe. */
final class WaitsWithoutThread {

    private final Instance instance;
    private final Grants grants;
    private final WaitQueues waiting;

    /**
     * The waiters for whom one attempt is made on another thread; they are in no queue. In the order of their arrival: whatever runs
     * over many does so in an order that can be repeated.
     */
    private final Queue<LeaseWaiter> attemptedOnce = new ConcurrentLinkedQueue<>();

    WaitsWithoutThread(Instance instance, Grants grants, WaitQueues waiting) {
        this.instance = instance;
        this.grants = grants;
        this.waiting = waiting;
    }

    /** Waits for a lease; the promise is completed in any case, with the lease or with the reason why there is none. */
    CompletableFuture<Lease> acquire(LeaseWaiter waiter, Wait wait) {
        CompletableFuture<Lease> promise = promised(waiter);
        if (wait.equals(Wait.none())) {
            attemptedOnce.add(waiter);
            waiter.result().whenComplete((lease, reason) -> attemptedOnce.remove(waiter));
            instance.driver.start(attemptOnce(waiter));
            if (instance.hasEnded()) {
                waiter.fail(Instance.ending());
            }
            return promise;
        }
        if (!waiter.deadline().isNever()) {
            Future<?> timer =
                    instance.driver.after(waiter.deadline().remainingNanos(), () -> waiter.fail(waiter.timedOut()));
            waiter.result()
                    .whenComplete((lease, reason) -> Optional.ofNullable(timer).ifPresent(t -> t.cancel(false)));
        }
        waiting.enqueue(waiter);
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
                                instance.driver.run(lease.closingUnwanted());
                            }
                        },
                        instance.driver::complete);
        promise.whenComplete((lease, reason) -> {
            // if it was not the waiter who ended it, but the caller, by cancelling or by a time limit of its own
            LockName name = waiter.names().get(0);
            waiter.fail(new LockException(name, "The wait for " + name + " was cancelled", null));
        });
        return promise;
    }

    private Plan<@Nullable Void> attemptOnce(LeaseWaiter waiter) {
        return grants.attempt(waiter.names(), waiter.request, 0)
                .then(outcome -> outcome.answer().granted()
                        ? grants.granted(waiter.names(), waiter.request, outcome)
                                .then(lease -> waiter.serve(lease) ? Plan.DONE : lease.closingUnwanted())
                        : grants.holder(waiter.names(), outcome.answer()).last(holder -> {
                            waiter.refused(holder);
                            waiter.fail(waiter.timedOut());
                        }))
                .ended((done, e) -> {
                    if (e != null) {
                        waiter.fail(
                                e instanceof LockException known
                                        ? known
                                        : instance.hasEnded()
                                                ? Instance.ending()
                                                : Grants.failed(waiter.names().get(0), e));
                    }
                });
    }

    /** Fails the waiters for whom one attempt is still to be made, or under way. */
    void failAll(LockException reason) {
        attemptedOnce.forEach(waiter -> waiter.fail(reason));
    }
}
