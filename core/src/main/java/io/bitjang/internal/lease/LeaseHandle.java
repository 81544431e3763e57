// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Ticks;
import io.bitjang.internal.work.Callbacks;
import io.bitjang.internal.work.Locked;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The handle of one grant: its state, and whether its holder knows.
 *
 * <p>The state only moves towards its two ends, LOST and RELEASED. The deadline is on the monotonic clock, counted from before the
 * request was sent that confirmed it last. {@code lock} guards all fields that change; nothing is called under it.
 */
final class LeaseHandle extends Locked implements Lease {

    private static final System.Logger LOG = System.getLogger("io.bitjang");

    /** Clocks that are brought into line differ by less. */
    private static final long LEAST_SLEEP = Duration.ofSeconds(1).toNanos();

    private final LeaseEngine engine;
    private final List<LockName> names;
    private final GrantKey key;
    private final Request request;
    private final long acquiredAt;

    private final List<Consumer<Lease>> callbacks = new ArrayList<>();
    private final Callbacks toCall = new Callbacks();
    private State state = State.HELD;
    private long deadline;
    private @Nullable String lostBecause;
    private boolean told;
    private @Nullable Run run;

    /** Both clocks as they were before the request was sent that confirmed it last. */
    private Clocks confirmedAt;

    /** The confirmation after which the database was asked whether it still holds. */
    private @Nullable Clocks doubtedAfter;

    private volatile @Nullable Thread holder;

    LeaseHandle(
            LeaseEngine engine, List<LockName> names, GrantKey key, Request request, Clocks acquired, long deadline) {
        this.engine = engine;
        this.names = names;
        this.key = key;
        this.request = request;
        this.acquiredAt = acquired.ticks();
        this.confirmedAt = acquired;
        this.deadline = deadline;
    }

    @Override
    public LockName name() {
        return key.name();
    }

    @Override
    public List<LockName> names() {
        return names;
    }

    @Override
    public long fence() {
        return key.fence();
    }

    @Override
    public State state() {
        expireIfDue();
        return locked(() -> {
            told |= state == State.LOST;
            return state;
        });
    }

    @Override
    public Optional<String> lostBecause() {
        state();
        return locked(() -> Optional.ofNullable(lostBecause));
    }

    @Override
    public boolean isHeld() {
        return isActive(state());
    }

    @Override
    public Duration remaining() {
        return isHeld() ? Duration.ofNanos(Math.max(0, nanosLeft())) : Duration.ZERO;
    }

    @Override
    public void ensure(Duration atLeast) {
        Limits.duration("time to ensure", atLeast);
        requireActive();
        if (state() != State.UNKNOWN && nanosLeft() >= atLeast.toNanos()) {
            return;
        }
        renew();
        if (nanosLeft() < atLeast.toNanos()) {
            throw new NoLockException(
                    name(),
                    name() + " can't be held for " + atLeast + ": a lease of it lasts " + request.duration(),
                    null);
        }
    }

    @Override
    public void renew() {
        requireActive();
        engine.renewer.renewNow(this);
        requireActive();
    }

    @Override
    public void guard(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        engine.guard.requireTransaction(connection);
        engine.requireOpenFor(connection);
        if (!isHeld()) {
            throw GuardSql.refuse(connection, notHeld());
        }
        engine.guardAll(connection, this);
    }

    @Override
    public Lease onLost(Consumer<Lease> callback) {
        Objects.requireNonNull(callback, "callback");
        expireIfDue();
        boolean lostBefore = locked(() -> {
            boolean lost = state == State.LOST;
            told |= lost;
            return lost || !callbacks.add(callback);
        });
        if (lostBefore) {
            toCall.add(engine.workers, () -> callback.accept(this));
        }
        return this;
    }

    @Override
    public void close() {
        expireIfDue();
        if (endQuietly()) {
            engine.release(this);
        } else if (locked(() -> state == State.LOST && !told)) {
            throw notHeld();
        }
    }

    /** Gives back what its waiter did not wait for; whether it was lost meanwhile is nobody's concern. */
    void closeUnwanted() {
        try {
            close();
        } catch (NoLockException e) {
            LOG.log(System.Logger.Level.DEBUG, "Nobody waited any more for a lease that was lost", e);
        }
    }

    /** Ends it here, without a word to the database. Answers whether it was active. */
    boolean endQuietly() {
        return locked(() -> {
            boolean active = isActive(state);
            state = active ? State.RELEASED : state;
            return active;
        });
    }

    @Override
    public String toString() {
        // not state(): whoever only writes it down has not told the holder
        return "Lease[" + names + " #" + fence() + " " + locked(() -> state) + "]";
    }

    GrantKey key() {
        return key;
    }

    /** The key of one of several locks. */
    GrantKey key(LockName name) {
        return new GrantKey(name, key.fence(), key.secret());
    }

    Request request() {
        return request;
    }

    /** Handed to the calling thread. */
    LeaseHandle heldByThisThread() {
        holder = Thread.currentThread();
        return this;
    }

    /** Whether it was handed to the calling thread. */
    boolean isHeldByThisThread() {
        return holder == Thread.currentThread();
    }

    /** What both clocks showed when it was last known to be held. */
    void seenAt(Clocks clocks) {
        locked(() -> confirmedAt = clocks);
    }

    Clocks seenAt() {
        return locked(() -> confirmedAt);
    }

    /** Whether the host may have been suspended since. */
    boolean mayHaveSlept() {
        return slept() > 0;
    }

    /** How long the host may have been suspended since: the monotonic clock does not count that. */
    private long slept() {
        long ahead = seenAt().wallRanAhead();
        return ahead > LEAST_SLEEP ? ahead : 0;
    }

    private long nanosLeft() {
        return deadline() - Ticks.now() - slept();
    }

    long acquiredAt() {
        return acquiredAt;
    }

    long deadline() {
        return locked(() -> deadline);
    }

    /** It may pass on without a statement. */
    void joins(Run joined) {
        locked(() -> run = joined);
    }

    /** It passes on by a statement only, from now on; false if it did so anyway, or has ended. */
    boolean leavesRun() {
        return locked(() -> {
            boolean left = run != null && isActive(state);
            run = left ? null : run;
            return left;
        });
    }

    /** The run that it is in; null if it passes on by a statement. */
    @Nullable
    Run run() {
        return locked(() -> run);
    }

    /** Held as far as is known here, without counting as having told the holder. */
    boolean active() {
        return locked(() -> isActive(state));
    }

    boolean atRisk() {
        return locked(() -> state == State.AT_RISK);
    }

    /**
     * The database has confirmed that it lasts so long from the given moment. An answer that was overtaken says no more than that. Answers
     * whether it was not.
     */
    boolean confirm(Clocks sentAt, long nanos) {
        return locked(() -> {
            deadline = Math.max(deadline, sentAt.ticks() + nanos);
            boolean newest = sentAt.ticks() - confirmedAt.ticks() >= 0;
            confirmedAt = newest ? sentAt : confirmedAt;
            state = newest && isActive(state) ? State.HELD : state;
            return newest;
        });
    }

    /** Not renewed by what was sent then, but not lost: unless it was confirmed since. Answers whether that is new. */
    boolean doubt(State doubtful, Clocks sentAt) {
        return locked(() -> {
            boolean changed = isActive(state) && state != doubtful && confirmedAt.ticks() - sentAt.ticks() <= 0;
            state = changed ? doubtful : state;
            return changed;
        });
    }

    /** Lost, for ever. The holder is told by callback, if there is one, by state and by exception. */
    void lose(String reason) {
        end(LeaseHandle::isActive, reason, Runnable::run);
    }

    /** It turned out at the release that it had been lost before. */
    NoLockException loseAtRelease(String reason) {
        end(before -> before == State.RELEASED, reason, Runnable::run);
        return notHeld();
    }

    private boolean end(Predicate<State> from, String reason, Executor telling) {
        boolean ended = locked(() -> {
            boolean ends = from.test(state);
            state = ends ? State.LOST : state;
            lostBecause = ends ? reason : lostBecause;
            told |= ends && !callbacks.isEmpty();
            return ends;
        });
        if (ended) {
            engine.lost(this, reason, telling);
            locked(() -> List.copyOf(callbacks))
                    .forEach(callback -> toCall.add(engine.workers, () -> callback.accept(this)));
        }
        return ended;
    }

    /** The deadline has passed: whoever looks first says so. */
    void expireIfDue() {
        expireIfDue(Runnable::run);
    }

    /** The same; the listeners are told there. */
    void expireIfDue(Executor telling) {
        askIfHostSlept(telling);
        if (!locked(() -> isActive(state) && Ticks.now() - deadline >= 0)) {
            return;
        }
        Duration maxHold = request.maxHold();
        boolean held = maxHold != null && Ticks.now() - acquiredAt >= maxHold.toNanos();
        String reason =
                held ? "it reached its maximum hold of " + maxHold : "it expired: it could not be renewed in time";
        if (end(LeaseHandle::isActive, reason, telling)) {
            // a renewal whose answer came too late may have prolonged it: nobody has it, so nobody must wait for it
            engine.releaseLater(this);
        }
    }

    /**
     * The monotonic clock stands still while the host is suspended, the wall clock does not, but may step for other reasons. If it says
     * that the lease is over, nothing is known any more, and the database is asked.
     */
    private void askIfHostSlept(Executor telling) {
        @Nullable
        Clocks doubted = locked(() -> {
            long ahead = confirmedAt.wallRanAhead();
            boolean over = isActive(state) && ahead > LEAST_SLEEP && Ticks.now() - deadline + ahead >= 0;
            boolean first = over && doubtedAfter != confirmedAt;
            doubtedAfter = over ? confirmedAt : doubtedAfter;
            return first ? confirmedAt : null;
        });
        if (doubted != null) {
            engine.renewer.ask(this, doubted, "the clock ran ahead: the host may have been suspended", telling);
        }
    }

    NoLockException notHeld() {
        String why = locked(() -> {
            told |= state == State.LOST;
            return state == State.RELEASED ? "it was given back" : String.valueOf(lostBecause);
        });
        return OwnRow.notHeld(key, why);
    }

    private void requireActive() {
        engine.requireOpen();
        if (!isHeld()) {
            throw notHeld();
        }
    }

    private static boolean isActive(State state) {
        return state != State.LOST && state != State.RELEASED;
    }
}
