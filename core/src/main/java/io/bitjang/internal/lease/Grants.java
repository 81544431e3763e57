// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Tries for locks, and makes leases of what was granted. Thread-safe. */
final class Grants {

    private final Instance instance;
    private final LeaseHandle.Keeper keeper;
    private final Attempts attempts;
    private final Trail trail;
    private final Renewer renewer;
    private final LateReleases late;

    Grants(
            Instance instance,
            LeaseHandle.Keeper keeper,
            Attempts attempts,
            Trail trail,
            Renewer renewer,
            LateReleases late) {
        this.instance = instance;
        this.keeper = keeper;
        this.attempts = attempts;
        this.trail = trail;
        this.renewer = renewer;
        this.late = late;
    }

    /** Tries once to take the locks, tells the listeners and writes the audit trail. */
    Plan<Attempts.Outcome> attempt(List<LockName> names, Request request, int reserve) {
        return Plan.later(() -> {
                    instance.lifetime().requireOpen();
                    return attempts.acquire(names, request, reserve);
                })
                .then(outcome -> trail.tell(names, request, outcome.answer())
                        .map(told -> outcome)
                        .otherwise(e -> {
                            if (outcome.answer().granted() && !outcome.answer().reentered()) {
                                // nobody gets to know its secret
                                late.addHeld(names, outcome.answer().grantedSecret(), request.duration(), 0);
                            }
                            return null;
                        }));
    }

    /**
     * Finds out who has the locks of a refused attempt; null if that is not known, or they are several: which of them is taken is not
     * told. Where the attempt itself could not tell it, or has waited for the row and tells what was there before, a second read may.
     */
    Plan<@Nullable LockData> holder(List<LockName> names, ClaimResult refused) {
        if (names.size() > 1) {
            return Plan.of(null);
        }
        LockRow row = refused.holder();
        return row != null && row.held()
                ? Plan.of(row.toData())
                : attempts.repeatable(
                                names.get(0),
                                "could not be read",
                                instance.store().read(names.get(0)))
                        .map(read -> read.map(LockRow::toData).orElse(null));
    }

    /** Tries once to take the locks as a lease. */
    Plan<Optional<LeaseHandle>> tryAcquire(List<LockName> names, Request request) {
        return attempt(names, request, 0)
                .then(outcome -> outcome.answer().granted()
                        ? granted(names, request, outcome).map(Optional::of)
                        : Plan.of(Optional.empty()));
    }

    /** Makes the lease of an attempt that was granted; it is renewed from now on. */
    Plan<LeaseHandle> granted(List<LockName> names, Request request, Attempts.Outcome outcome) {
        ClaimResult answer = outcome.answer();
        GrantKey key = new GrantKey(names.get(0), answer.fence(), answer.grantedSecret());
        long deadline = outcome.sentAt().ticks() + request.duration().toNanos();
        return begun(lease(names, key, request, outcome.sentAt(), deadline));
    }

    /** Passes a holder's lock on to the next waiter of this process, with a fence that was set aside for it. */
    Plan<LeaseHandle> passedOn(LeaseHandle from, FenceReserve<LeaseHandle> fences, Request request) {
        GrantKey key = new GrantKey(from.name(), fences.nextFence(), from.key().secret());
        LeaseHandle lease = lease(from.names(), key, request, instance.ticker().clocks(), from.deadline());
        lease.seenAt(from.seenAt());
        lease.passesOnWith(fences);
        fences.holder = lease;
        return begun(lease);
    }

    private LeaseHandle lease(List<LockName> names, GrantKey key, Request request, Clocks acquired, long deadline) {
        return new LeaseHandle(keeper, instance.workers(), names, key, request, acquired, deadline);
    }

    /** Begins a lease, unless the instance is closed meanwhile: whoever closes it may have looked before the lease was there. */
    private Plan<LeaseHandle> begun(LeaseHandle lease) {
        renewer.add(lease);
        if (!instance.lifetime().hasEnded()) {
            return Plan.of(lease);
        }
        return lease.endQuietly()
                ? late.giveBackNow(
                                lease.names(),
                                lease.key().secret(),
                                lease.request().duration())
                        .then(given -> Plan.failed(Lifetime.ended()))
                : Plan.failed(Lifetime.ended());
    }
}
