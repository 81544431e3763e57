// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.Claim;
import io.bitjang.internal.sql.ClaimResult;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Attempts whose outcome is known when they return: what the database says is safe to repeat is repeated, with a pause and within
 * a budget, and what became of a request whose answer never came is found out. Thread-safe.
 *
 * <p>To find out, the row is written first and read then: an attempt that still works on the row ends before the write. An attempt
 * that has not even reached the server is not seen, so after "not mine" its id is released again and again until the lease that it
 * asked for has passed. A repeated attempt has a new id.
 */
final class Attempts {

    /** How long one call goes on repeating; once at least, however slow the database was. */
    private static final Duration BUDGET = Duration.ofSeconds(1);

    /** How often a row that another's statement has locked for a moment is tried before it counts as taken. */
    private static final int BUSY_TRIES = 3;

    private static final String NOT_TAKEN = "could not be taken";
    private static final Duration BUSY_BUDGET = Duration.ofMillis(25);

    /** What came out of an attempt: the answer, and when the request was sent that it answers. */
    record Outcome(ClaimResult answer, Clocks sentAt) {}

    private final Ticker ticker;
    private final LockStore store;
    private final LateReleases late;

    Attempts(Ticker ticker, LockStore store, LateReleases late) {
        this.ticker = ticker;
        this.store = store;
        this.late = late;
    }

    /** Tries once to take the locks, given in order, with {@code reserve} fences set aside for those to whom it passes on. */
    Plan<Outcome> acquire(List<LockName> names, Request request, int reserve) {
        return attempt(
                names,
                request,
                reserve,
                claim -> names.size() == 1 ? store.acquire(names.get(0), claim) : store.acquireAll(names, claim));
    }

    /** Tries once to take the lock from the holder with this fence. */
    Plan<ClaimResult> takeOver(LockName name, long seen, Request request) {
        return attempt(List.of(name), request, 0, claim -> store.takeOver(name, seen, claim))
                .map(Outcome::answer);
    }

    private Plan<Outcome> attempt(
            List<LockName> names, Request request, int reserve, Function<Claim, Plan<ClaimResult>> statement) {
        return Plan.later(() -> new Attempt(names, request, reserve, statement).next());
    }

    /** One attempt, as often as the database says that it may be repeated. */
    private final class Attempt {

        private final List<LockName> names;
        private final Request request;
        private final int reserve;
        private final Function<Claim, Plan<ClaimResult>> statement;
        private final boolean mayReenter;
        private final Deadline budget = ticker.in(BUDGET);
        private final Deadline busyBudget;
        private int tries;

        Attempt(List<LockName> names, Request request, int reserve, Function<Claim, Plan<ClaimResult>> statement) {
            this.names = names;
            this.request = request;
            this.reserve = reserve;
            this.statement = statement;
            this.mayReenter = request.again() != null;
            this.busyBudget = ticker.in(mayReenter ? BUDGET : BUSY_BUDGET);
        }

        Plan<Outcome> next() {
            tries++;
            Claim claim = request.claim(store.newSecret(), reserve);
            Clocks sentAt = ticker.clocks();
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
                    : pause(names.get(0), 4).then(paused -> next());
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

    /** Does an operation that may be repeated: it only reads, or is matched on a lock id. */
    <T extends @Nullable Object> Plan<T> repeatable(LockName name, String what, Plan<T> operation) {
        return Plan.later(() -> repeatable(name, what, operation, 1, ticker.in(BUDGET)));
    }

    private <T extends @Nullable Object> Plan<T> repeatable(
            LockName name, String what, Plan<T> operation, int tries, Deadline budget) {
        return operation.ifFailed(e -> e.meaning() == Meaning.FAILED || tries > 1 && budget.passed()
                ? Plan.failed(e.toFailure(name, what))
                : pause(name, 4).then(paused -> repeatable(name, what, operation, tries + 1, budget)));
    }

    /** Does an operation that is repeated only if the database says that it was not applied. */
    <T extends @Nullable Object> Plan<T> once(LockName name, String what, Plan<T> operation) {
        return repeatable(
                name,
                what,
                operation.ifFailed(e -> Plan.failed(
                        e.meaning() == Meaning.UNKNOWN
                                ? e.toFailure(name, what + ": what became of it is not known")
                                : e)));
    }

    /** Sleeps for a random part of the time; an interrupt ends the plan. */
    static Plan<Boolean> pause(LockName name, long millis) {
        return new Plan.Pause(millis).then(paused -> paused ? Plan.of(true) : Plan.failed(Ticker.interrupted(name)));
    }

    /** Makes the exception for a failure that is not the database's. */
    static LockingFailException failed(LockName name, Throwable e) {
        return new LockingFailException(name, name + " could not be taken: " + e, e);
    }
}
