// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.Claim;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Log;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tries for locks until the outcome is known, tells the listeners and the audit trail, and makes leases of what was granted: what
 * the database says is safe to repeat is repeated, with a pause and within a budget, and what became of a request whose answer never
 * came is found out. Thread-safe.
 *
 * <p>To find out, the row is written first and read then: an attempt that still works on the row ends before the write. An attempt
 * that has not even reached the server is not seen, so after "not mine" its id is released again and again until the lease that it
 * asked for has passed. A repeated attempt has a new id.
 */
final class Grants {

    /** How long one call goes on repeating; once at least, however slow the database was. */
    private static final Duration BUDGET = Duration.ofSeconds(1);

    /** How often a row that another's statement has locked for a moment is tried before it counts as taken. */
    private static final int BUSY_TRIES = 3;

    private static final String NOT_TAKEN = "could not be taken";
    private static final Duration BUSY_BUDGET = Duration.ofMillis(25);

    /** What came out of an attempt: the answer, and when the request was sent that it answers. */
    record Outcome(ClaimResult answer, Clocks sentAt) {}

    private final Instance instance;
    private final LeaseHandle.Keeper keeper;
    private final LockStore store;
    private final Renewer renewer;
    private final LateReleases late;

    Grants(Instance instance, LeaseHandle.Keeper keeper, Renewer renewer, LateReleases late) {
        this.instance = instance;
        this.keeper = keeper;
        this.store = instance.store;
        this.renewer = renewer;
        this.late = late;
    }

    /** Tries once to take the locks, tells the listeners and writes the audit trail. */
    Plan<Outcome> attempt(List<LockName> names, Request request, int reserve) {
        return Plan.later(() -> {
                    instance.requireOpen();
                    Function<Claim, Plan<ClaimResult>> statement = claim ->
                            names.size() == 1 ? store.acquire(names.get(0), claim) : store.acquireAll(names, claim);
                    return new Attempt(names, request, reserve, statement).next();
                })
                .then(outcome -> tell(names, request, outcome.answer())
                        .map(told -> outcome)
                        .otherwise(e -> {
                            if (outcome.answer().granted() && !outcome.answer().reentered()) {
                                // nobody gets to know its secret
                                late.addHeld(names, outcome.answer().grantedSecret(), request.duration(), 0);
                            }
                            return null;
                        }));
    }

    /** Tries once to take the lock from the holder with this fence. */
    Plan<ClaimResult> takeOver(LockName name, long seen, Request request) {
        return Plan.later(
                        () -> new Attempt(List.of(name), request, 0, claim -> store.takeOver(name, seen, claim)).next())
                .map(Outcome::answer);
    }

    /** One attempt, as often as the database says that it may be repeated. */
    private final class Attempt {

        private final List<LockName> names;
        private final Request request;
        private final int reserve;
        private final Function<Claim, Plan<ClaimResult>> statement;
        private final boolean mayReenter;
        private final Deadline budget = instance.ticker.in(BUDGET);
        private final Deadline busyBudget;
        private int tries;

        Attempt(List<LockName> names, Request request, int reserve, Function<Claim, Plan<ClaimResult>> statement) {
            this.names = names;
            this.request = request;
            this.reserve = reserve;
            this.statement = statement;
            this.mayReenter = request.again() != null;
            this.busyBudget = instance.ticker.in(mayReenter ? BUDGET : BUSY_BUDGET);
        }

        Plan<Outcome> next() {
            tries++;
            Claim claim = request.claim(store.newSecret(), reserve);
            Clocks sentAt = instance.ticker.clocks();
            return statement
                    .apply(claim)
                    .map(answer -> new Outcome(answer, sentAt))
                    .ifFailed(e -> failed(e, claim, sentAt));
        }

        private Plan<Outcome> failed(DatabaseException e, Claim claim, Clocks sentAt) {
            return switch (e.meaning()) {
                case BUSY -> {
                    boolean enough = !mayReenter && tries >= BUSY_TRIES || busyBudget.passed();
                    yield enough
                            ? store.mayBeLocked(names).then(locked -> locked ? refused(sentAt) : again(e))
                            : again(e);
                }
                case REPEAT -> again(e);
                case UNKNOWN ->
                    resolve(names, claim, e)
                            .then(found -> found.granted() ? Plan.of(new Outcome(found, sentAt)) : again(e));
                case FAILED -> {
                    if (names.size() > 1) {
                        // the group may have been granted before a later statement failed
                        late.add(names, claim.secret(), claim.micros());
                    }
                    yield Plan.failed(e.toFailure(names.get(0), NOT_TAKEN));
                }
            };
        }

        private Plan<Outcome> refused(Clocks sentAt) {
            return Plan.of(new Outcome(ClaimResult.refused(null), sentAt));
        }

        private Plan<Outcome> again(DatabaseException e) {
            return tries > 1 && budget.passed()
                    ? Plan.failed(e.toFailure(names.get(0), NOT_TAKEN))
                    : HeldRow.pause(names.get(0), 4).then(paused -> next());
        }
    }

    private Plan<ClaimResult> resolve(List<LockName> names, Claim claim, DatabaseException cause) {
        // several locks are taken all or none: one tells for all
        return resolvePatiently(names, claim, 1)
                .then(row -> row.isEmpty()
                        ? Plan.of(ClaimResult.refused(null))
                        : names.size() == 1
                                ? Plan.of(ClaimResult.of(row.get(), claim))
                                : store.grantedAll(names, claim))
                .ifFailed(e -> {
                    cause.addSuppressed(e);
                    late.add(names, claim.secret(), claim.micros());
                    return Plan.failed(cause.toFailure(
                            names.get(0),
                            "could not be taken, and what became of the attempt is not known (if it was granted, it is given back"
                                    + (claim.again() == null ? ")" : ", unless its owner takes it again)")));
                })
                .map(found -> {
                    if (!found.granted()) {
                        late.add(names, claim.secret(), claim.micros());
                    }
                    return found;
                });
    }

    /** Finds out what became of an attempt, a few times if need be: another's statement may have the row locked for a moment. */
    private Plan<Optional<LockRow>> resolvePatiently(List<LockName> names, Claim claim, int tries) {
        return store.resolve(names.get(0), claim.secret())
                .ifFailed(e -> tries == BUSY_TRIES || e.meaning() == Meaning.FAILED || e.meaning() == Meaning.UNKNOWN
                        ? Plan.failed(e)
                        : new Plan.Pause(10).then(paused -> {
                            if (paused) {
                                return resolvePatiently(names, claim, tries + 1);
                            }
                            late.add(names, claim.secret(), claim.micros());
                            return Plan.failed(Ticker.interrupted(names.get(0)));
                        }));
    }

    /** Tells what came of an attempt, name by name. */
    private Plan<Boolean> tell(List<LockName> names, Request request, ClaimResult answer) {
        if (!answer.granted()) {
            LockRow holder = answer.holder();
            String by = holder == null || !holder.held() ? null : holder.toString();
            instance.events.tell(Kind.REFUSED, names, 0, request.owner(), by);
            return Plan.of(false);
        }
        if (!answer.takenOver()) {
            instance.events.tell(
                    answer.reentered() ? Kind.REENTERED : Kind.ACQUIRED, names, answer.fence(), request.owner(), null);
            return Plan.of(true);
        }
        Plan<Set<LockName>> takenOver = names.size() == 1 ? Plan.of(Set.copyOf(names)) : takenOver(names);
        return takenOver.then(those -> Plan.all(names, name -> {
            boolean over = those.contains(name);
            instance.events.tell(
                    over ? Kind.TAKEN_OVER : Kind.ACQUIRED, List.of(name), answer.fence(), request.owner(), null);
            return over && instance.settings.audit() ? audit(name, answer.fence(), null) : Plan.of(true);
        }));
    }

    /** Reads which of several locks had expired in the hands of others: the answer does not tell, the rows do. */
    private Plan<Set<LockName>> takenOver(List<LockName> names) {
        return store.read(names)
                .map(rows -> rows.values().stream()
                        .filter(row -> row.takenFrom() != null)
                        .map(LockRow::name)
                        .collect(Collectors.toSet()))
                .ifFailed(e -> {
                    Log.warn("From whom " + names + " were taken could not be read", e);
                    return Plan.of(Set.of());
                });
    }

    /** Writes down that a lock was taken over. */
    Plan<Boolean> audit(LockName name, long fence, @Nullable String reason) {
        return store.admin()
                .auditTakeOver(name, fence, reason)
                .map(written -> true)
                .ifFailed(e -> {
                    Log.warn("The take-over of " + name + " could not be written down", e);
                    return Plan.of(true);
                });
    }

    /**
     * Finds out who has the lock of a refused attempt, the first that is taken if they are several; null if that is not known. Where
     * the attempt itself could not tell it, or has waited for the row and tells what was there before, a second read may; if that
     * fails, it stays a refusal.
     */
    Plan<@Nullable LockData> holder(List<LockName> names, ClaimResult refused) {
        LockRow row = refused.holder();
        return row != null && row.held()
                ? Plan.of(row.toData())
                : store.read(names)
                        .map(rows -> names.stream()
                                .map(rows::get)
                                .filter(read -> read != null && (read.held() || names.size() == 1))
                                .findFirst()
                                .map(LockRow::toData)
                                .orElse(null))
                        .ifFailed(e -> Plan.of(null));
    }

    /** Tries once to take the locks as a lease. */
    Plan<Optional<LeaseHandle>> tryAcquire(List<LockName> names, Request request) {
        return attempt(names, request, 0)
                .then(outcome -> outcome.answer().granted()
                        ? granted(names, request, outcome).map(Optional::of)
                        : Plan.of(Optional.empty()));
    }

    /** Makes the lease of an attempt that was granted; it is renewed from now on. */
    Plan<LeaseHandle> granted(List<LockName> names, Request request, Outcome outcome) {
        ClaimResult answer = outcome.answer();
        GrantKey key = new GrantKey(names.get(0), answer.fence(), answer.grantedSecret());
        long deadline = outcome.sentAt().ticks() + request.duration().toNanos();
        return begun(lease(names, key, request, outcome.sentAt(), deadline));
    }

    /**
     * Makes the lease of the next waiter of this process, to whom a holder's lock passes on with a fence that was set aside for it;
     * {@link #begun} begins it.
     */
    LeaseHandle passedOn(LeaseHandle from, FenceReserve<LeaseHandle> fences, Request request) {
        GrantKey key = new GrantKey(from.name(), fences.nextFence(), from.key().secret());
        LeaseHandle lease = lease(from.names(), key, request, instance.ticker.clocks(), from.deadline());
        lease.seenAt(from.seenAt());
        lease.passesOnWith(fences);
        fences.holder = lease;
        return lease;
    }

    private LeaseHandle lease(List<LockName> names, GrantKey key, Request request, Clocks acquired, long deadline) {
        return new LeaseHandle(keeper, instance.driver, names, key, request, new LeaseState(acquired, deadline));
    }

    /** Begins a lease, unless the instance is closed meanwhile: whoever closes it may have looked before the lease was there. */
    Plan<LeaseHandle> begun(LeaseHandle lease) {
        renewer.add(lease);
        if (!instance.hasEnded()) {
            return Plan.of(lease);
        }
        return lease.endQuietly()
                ? late.giveBackNow(
                                lease.names(),
                                lease.key().secret(),
                                lease.request().duration())
                        .then(given -> Plan.failed(Instance.ended()))
                : Plan.failed(Instance.ended());
    }

    /** Makes the exception for a failure that is not the database's. */
    static LockingFailException failed(LockName name, Throwable e) {
        return new LockingFailException(name, name + " could not be taken: " + e, e);
    }
}
