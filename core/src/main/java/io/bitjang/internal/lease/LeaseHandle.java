// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.GuardSql;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.time.Clocks;
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

    /** The least lead of the wall clock that may be a suspended host; clocks that are brought into line differ by less. */
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
    private @Nullable FenceReserve run;

    /** Both clocks as they were before the request was sent that confirmed the lease last. */
    private Clocks confirmedAt;

    /** The confirmation after which the database was asked whether the lease is still held. */
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
        engine.run(engine.renewer.renewNow(this));
        requireActive();
    }

    @Override
    public void guard(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        engine.guard.requireTransaction(connection);
        engine.requireOpenFor(connection);
        if (!isHeld()) {
            throw GuardSql.refuse(connection, notHeld(", the transaction was rolled back"));
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
        engine.run(closing());
    }

    /** Ends the lease, and plans how it is given back. */
    Plan<@Nullable Void> closing() {
        expireIfDue();
        if (endQuietly()) {
            return engine.release(this);
        }
        return locked(() -> state == State.LOST && !told) ? Plan.failed(notHeld()) : Plan.DONE;
    }

    /** Gives back a lease whose waiter has gone; whether it was lost meanwhile is nobody's concern. */
    Plan<@Nullable Void> closingUnwanted() {
        return closing().otherwise(e -> e instanceof NoLockException ? Plan.DONE : null);
    }

    /** Ends the lease here, without a word to the database; returns whether it was active. */
    boolean endQuietly() {
        return locked(() -> {
            boolean active = isActive(state);
            state = active ? State.RELEASED : state;
            return active;
        });
    }

    /** Hashes the key, not the place in memory: whatever runs over many leases does so in an order that can be repeated. */
    @Override
    public int hashCode() {
        return key.hashCode();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public String toString() {
        // not state(): whoever only writes it down has not told the holder
        return "Lease[" + names + " #" + fence() + " " + locked(() -> state) + "]";
    }

    GrantKey key() {
        return key;
    }

    /** Returns the key of one of the lease's locks. */
    GrantKey key(LockName name) {
        return new GrantKey(name, key.fence(), key.secret());
    }

    Request request() {
        return request;
    }

    /** Notes that the lease was handed to the calling thread. */
    LeaseHandle heldByThisThread() {
        holder = Thread.currentThread();
        return this;
    }

    /** Tells whether the lease was handed to the calling thread. */
    boolean isHeldByThisThread() {
        return holder == Thread.currentThread();
    }

    /** Sets what both clocks showed when the lease was last known to be held. */
    void seenAt(Clocks clocks) {
        locked(() -> confirmedAt = clocks);
    }

    Clocks seenAt() {
        return locked(() -> confirmedAt);
    }

    /** Tells whether the host may have been suspended since the lease was confirmed last. */
    boolean mayHaveSlept() {
        return slept() > 0;
    }

    /** Returns how many nanoseconds the host may have slept since the last confirmation: the monotonic clock counts none. */
    private long slept() {
        long ahead = seenAt().wallRanAhead(engine.ticker.clocks());
        return ahead > LEAST_SLEEP ? ahead : 0;
    }

    private long nanosLeft() {
        return deadline() - engine.ticker.now() - slept();
    }

    long acquiredAt() {
        return acquiredAt;
    }

    long deadline() {
        return locked(() -> deadline);
    }

    /** Lets the lease pass on without a statement, with the fences of this reserve. */
    void joins(FenceReserve joined) {
        locked(() -> run = joined);
    }

    /** Lets the lease pass on by a statement only, from now on; false if it did so anyway, or has ended. */
    boolean leavesRun() {
        return locked(() -> {
            boolean left = run != null && isActive(state);
            run = left ? null : run;
            return left;
        });
    }

    /** Returns the reserve whose fences the lease passes on with; null if it passes on by a statement. */
    @Nullable
    FenceReserve run() {
        return locked(() -> run);
    }

    /** Tells whether the lease is held as far as is known here, without counting as having told the holder. */
    boolean active() {
        return locked(() -> isActive(state));
    }

    boolean atRisk() {
        return locked(() -> state == State.AT_RISK);
    }

    /**
     * Notes that the database has confirmed that the lease lasts for so many nanoseconds from the given moment. An answer that a
     * later one has overtaken says no more than that; returns whether this one is the newest.
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

    /** Marks the lease as in doubt, not lost, unless it was confirmed since the request was sent; returns whether that is new. */
    boolean doubt(State doubtful, Clocks sentAt) {
        return locked(() -> {
            boolean changed = isActive(state) && state != doubtful && confirmedAt.ticks() - sentAt.ticks() <= 0;
            state = changed ? doubtful : state;
            return changed;
        });
    }

    /** Ends the lease as lost, for ever. The holder is told by callback, if there is one, by state and by exception. */
    void lose(String reason) {
        end(LeaseHandle::isActive, reason, Runnable::run);
    }

    /** Ends the lease as lost, because it turned out at the release that it had been lost before. */
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

    /** Ends the lease as lost if its deadline has passed: whoever looks first says so. */
    void expireIfDue() {
        expireIfDue(Runnable::run);
    }

    /** Ends the lease as lost if its deadline has passed; the listeners are told by the given executor. */
    void expireIfDue(Executor telling) {
        askIfHostSlept(telling);
        if (!locked(() -> isActive(state) && engine.ticker.now() - deadline >= 0)) {
            return;
        }
        Duration maxHold = request.maxHold();
        boolean held = maxHold != null && engine.ticker.now() - acquiredAt >= maxHold.toNanos();
        String reason =
                held ? "it reached its maximum hold of " + maxHold : "it expired: it could not be renewed in time";
        if (end(LeaseHandle::isActive, reason, telling)) {
            // a renewal whose answer came too late may have prolonged it: nobody has it, so nobody must wait for it
            engine.releaseLater(this);
        }
    }

    /**
     * Asks the database if the wall clock says that the lease is over: nothing is known then. The monotonic clock stands still
     * while the host is suspended; the wall clock does not, but may step for other reasons.
     */
    private void askIfHostSlept(Executor telling) {
        @Nullable
        Clocks doubted = locked(() -> {
            long ahead = confirmedAt.wallRanAhead(engine.ticker.clocks());
            boolean over = isActive(state) && ahead > LEAST_SLEEP && engine.ticker.now() - deadline + ahead >= 0;
            boolean first = over && doubtedAfter != confirmedAt;
            doubtedAfter = over ? confirmedAt : doubtedAfter;
            return first ? confirmedAt : null;
        });
        if (doubted != null) {
            engine.renewer.ask(this, doubted, "the clock ran ahead: the host may have been suspended", telling);
        }
    }

    NoLockException notHeld() {
        return notHeld("");
    }

    private NoLockException notHeld(String consequence) {
        String why = locked(() -> {
            told |= state == State.LOST;
            return state == State.RELEASED ? "it was given back" : String.valueOf(lostBecause);
        });
        return HeldRow.notHeld(key, why + consequence, null);
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
