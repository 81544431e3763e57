// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.internal.sql.Answer;
import io.bitjang.internal.sql.Claim;
import io.bitjang.internal.sql.DatabaseException;
import io.bitjang.internal.sql.DatabaseException.Meaning;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.LockRow;
import io.bitjang.internal.sql.LockStore;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Deadline;
import io.bitjang.internal.time.Ticks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
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

    /** A row that is locked for a moment by another's statement is tried again so many times before it counts as taken. */
    private static final int BUSY_TRIES = 3;

    private static final Duration BUSY_BUDGET = Duration.ofMillis(25);

    /** What came out of an attempt: the answer, and when the request was sent that it answers. */
    record Outcome(Answer answer, Clocks sentAt) {}

    private final LockStore store;
    private final LateReleases late;

    Attempts(LockStore store, LateReleases late) {
        this.store = store;
        this.late = late;
    }

    /** Tries once to take the locks, given in order, with so many fences set aside for those to whom it passes on. */
    Outcome acquire(List<LockName> names, Request request, int reserve) {
        return attempt(
                names,
                request,
                reserve,
                claim -> names.size() == 1 ? store.acquire(names.get(0), claim) : store.acquireAll(names, claim));
    }

    /** Tries once to take the lock from the holder with this fence. */
    Answer takeOver(LockName name, long seen, Request request) {
        return attempt(List.of(name), request, 0, claim -> store.takeOver(name, seen, claim))
                .answer();
    }

    private Outcome attempt(List<LockName> names, Request request, int reserve, Function<Claim, Answer> statement) {
        Deadline budget = Deadline.in(BUDGET);
        boolean mayReenter = request.again() != null;
        Deadline busyBudget = Deadline.in(mayReenter ? BUDGET : BUSY_BUDGET);
        for (int tries = 1; ; tries++) {
            Claim claim = request.claim(GrantKey.newSecret(), reserve);
            Clocks sentAt = Clocks.now();
            try {
                return new Outcome(statement.apply(claim), sentAt);
            } catch (DatabaseException e) {
                if (e.meaning() == Meaning.BUSY
                        && (!mayReenter && tries >= BUSY_TRIES || busyBudget.passed())
                        && store.mayBeLocked(names)) {
                    return new Outcome(Answer.refused(null), sentAt);
                }
                if (e.meaning() == Meaning.UNKNOWN) {
                    Answer found = resolve(names, claim, e);
                    if (found.granted()) {
                        return new Outcome(found, sentAt);
                    }
                }
                if (e.meaning() == Meaning.FAILED && names.size() > 1) {
                    // the group may have been granted before a later statement failed
                    late.add(names, claim.secret(), claim.micros());
                }
                if (e.meaning() == Meaning.FAILED || tries > 1 && budget.passed()) {
                    throw failed(names.get(0), "could not be taken", e);
                }
                Ticks.pause(names.get(0), 4);
            }
        }
    }

    private Answer resolve(List<LockName> names, Claim claim, DatabaseException cause) {
        try {
            // several locks are taken all or none: one tells for all
            Optional<LockRow> row = resolvePatiently(names.get(0), claim.secret());
            Answer found = row.isEmpty()
                    ? Answer.refused(null)
                    : names.size() == 1 ? Answer.of(row.get(), claim) : store.grantedAll(names, claim);
            if (found.granted()) {
                return found;
            }
        } catch (DatabaseException e) {
            cause.addSuppressed(e);
            late.add(names, claim.secret(), claim.micros());
            throw failed(
                    names.get(0),
                    "could not be taken, and what became of the attempt is not known (if it was granted, it is given back"
                            + (claim.again() == null ? ")" : ", unless its owner takes it again)"),
                    cause);
        } catch (LockException interrupted) {
            late.add(names, claim.secret(), claim.micros());
            throw interrupted;
        }
        late.add(names, claim.secret(), claim.micros());
        return Answer.refused(null);
    }

    /** Another's statement may have the row locked for a moment. */
    private Optional<LockRow> resolvePatiently(LockName name, String secret) {
        for (int tries = 1; ; tries++) {
            try {
                return store.resolve(name, secret);
            } catch (DatabaseException e) {
                if (tries == BUSY_TRIES || e.meaning() == Meaning.FAILED || e.meaning() == Meaning.UNKNOWN) {
                    throw e;
                }
                Ticks.pause(name, 10);
            }
        }
    }

    /** Runs an operation that may be repeated: it is matched on a lock id. */
    <T> T repeatable(LockName name, String what, Supplier<T> operation) {
        Deadline budget = Deadline.in(BUDGET);
        for (int tries = 1; ; tries++) {
            try {
                return operation.get();
            } catch (DatabaseException e) {
                if (e.meaning() == Meaning.FAILED || tries > 1 && budget.passed()) {
                    throw failed(name, what, e);
                }
                Ticks.pause(name, 4);
            }
        }
    }

    /** Runs an operation that is repeated only if the database says that it was not applied. */
    <T> T once(LockName name, String what, Supplier<T> operation) {
        return repeatable(name, what, () -> {
            try {
                return operation.get();
            } catch (DatabaseException e) {
                if (e.meaning() == Meaning.UNKNOWN) {
                    throw failed(name, what + ": what became of it is not known", e);
                }
                throw e;
            }
        });
    }

    /** A failure that is not the database's. */
    static LockingFailException failed(LockName name, RuntimeException e) {
        return new LockingFailException(name, name + " could not be taken: " + e, e);
    }

    static LockingFailException failed(@Nullable LockName name, String what, DatabaseException e) {
        return new LockingFailException(name, name + " " + what + ". " + e.getMessage(), e.sqlException());
    }
}
