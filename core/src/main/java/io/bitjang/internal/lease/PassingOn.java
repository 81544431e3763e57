// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.work.Log;
import org.jspecify.annotations.Nullable;

/**
 * Lets leases that nobody sees pass on inside this process without a statement, for a moment, and then tells the table who has the
 * lock. Thread-safe.
 */
final class PassingOn {

    private final Instance instance;

    PassingOn(Instance instance) {
        this.instance = instance;
    }

    /** Lets a lease pass on with the fences that its grant has set aside. */
    void begin(LeaseHandle first) {
        FenceReserve<LeaseHandle> fences = new FenceReserve<>(first, first.fence(), instance.ticker.now());
        first.passesOnWith(fences);
        settleSoon(fences, null);
    }

    /** Tells whether nothing is lost if a lease passes on: the next waiter asks for the same, and most of the lease is left. */
    boolean may(LeaseHandle lease, FenceReserve<LeaseHandle> fences, Request next) {
        long now = instance.ticker.now();
        return lease.request().passesOnTo(next)
                && !lease.mayHaveSlept()
                && lease.deadline() - now > next.duration().toNanos() / 2
                && fences.goesOn(now);
    }

    /** Notes that the lease has passed on. If the time for that is over, the table may know the holder before only: it is told again. */
    void passed(FenceReserve<LeaseHandle> fences) {
        if (!fences.goesOn(instance.ticker.now())) {
            settleSoon(fences, null);
        }
    }

    private void settleSoon(FenceReserve<LeaseHandle> fences, @Nullable LeaseHandle ended) {
        instance.driver.after(
                2 * FenceReserve.LONGEST.toNanos(),
                () -> instance.driver.start(Plan.later(() -> settle(fences, ended))));
    }

    /** Tells the table who has the lock, again and again until it knows, or the lease has ended and did not pass on after all. */
    private Plan<@Nullable Void> settle(FenceReserve<LeaseHandle> fences, @Nullable LeaseHandle ended) {
        LeaseHandle lease = fences.holder;
        lease.passesOnByStatement();
        if (lease == ended) {
            return Plan.DONE;
        }
        boolean active = lease.active();
        Plan<Boolean> settled =
                active ? instance.store.settle(lease.name(), lease.key().secret(), lease.fence()) : Plan.of(false);
        return settled.ended((known, failure) -> {
            if (failure != null) {
                Log.debug(lease.name() + ": its fence could not be written down", failure);
            }
            if (!Boolean.TRUE.equals(known)) {
                settleSoon(fences, active ? null : lease);
            }
        });
    }
}
