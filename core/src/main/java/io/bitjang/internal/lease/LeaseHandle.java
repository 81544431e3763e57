// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.internal.sql.Gone;
import io.bitjang.internal.sql.GrantKey;
import io.bitjang.internal.sql.Plan;
import io.bitjang.internal.sql.Texts;
import io.bitjang.internal.time.Clocks;
import io.bitjang.internal.time.Ticker;
import io.bitjang.internal.work.Callbacks;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The handle of one grant. What is known of the grant is in its {@link LeaseState}; what is to be done, its keeper does. Thread-safe. */
final class LeaseHandle implements Lease {

    /** Looks after leases: does what their holders ask for. */
    interface Keeper {

        /** Requires that the instance is open. */
        void requireOpen();

        /** Does what the plan says, on this thread. */
        <T extends @Nullable Object> T run(Plan<T> plan);

        /** Plans to renew the lease for its holder, who is told what goes wrong. */
        Plan<Boolean> renewal(LeaseHandle lease);

        /** Pins all locks of the lease in the caller's transaction. */
        void guard(Connection connection, LeaseHandle lease);

        /** Plans to give back a lease that has ended here. */
        Plan<@Nullable Void> release(LeaseHandle lease);

        /** Releases a lost lease in the background: one that ended here by its own clock may still be in the table. */
        void releaseLater(LeaseHandle lease);

        /** Forgets a lease that was lost; the listeners are told by the given executor. */
        void lost(LeaseHandle lease, String reason, Executor telling);

        /** Asks the database whether the lease is still held: the host may have been suspended since it was confirmed. */
        void ask(LeaseHandle lease, Clocks confirmedAt, Executor telling);
    }

    private final Keeper keeper;
    private final Ticker ticker;
    private final List<LockName> names;
    private final GrantKey key;
    private final Request request;
    private final long acquiredAt;
    private final LeaseState state;
    private final Callbacks toCall;

    /** The fences with which the lease passes on without a statement; null if it passes on by a statement. */
    private volatile @Nullable FenceReserve<LeaseHandle> reserve;

    private volatile @Nullable Thread holder;
    private volatile boolean unwanted;

    LeaseHandle(Keeper keeper, Driver driver, List<LockName> names, GrantKey key, Request request, LeaseState state) {
        this.keeper = keeper;
        this.ticker = driver.ticker();
        this.toCall = new Callbacks(driver::callBack);
        this.names = names;
        this.key = key;
        this.request = request;
        this.acquiredAt = state.confirmedAt().ticks();
        this.state = state;
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
        return state.tell();
    }

    @Override
    public Optional<String> lostBecause() {
        expireIfDue();
        return Optional.ofNullable(state.tellWhyLost()).map(Gone::why);
    }

    @Override
    public boolean isHeld() {
        return LeaseState.isActive(state());
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
                    name() + " can't be held for " + Texts.of(atLeast) + ": a lease of it lasts "
                            + Texts.of(request.duration()),
                    null);
        }
    }

    @Override
    public void renew() {
        requireActive();
        keeper.run(keeper.renewal(this));
        requireActive();
    }

    @Override
    public void guard(Connection connection) {
        keeper.guard(Objects.requireNonNull(connection, "connection"), this);
    }

    @Override
    public Lease onLost(Consumer<Lease> callback) {
        Objects.requireNonNull(callback, "callback");
        expireIfDue();
        state.callsBack();
        toCall.add(() -> callback.accept(this));
        return this;
    }

    @Override
    public void close() {
        keeper.run(closing());
    }

    /** Ends the lease, and plans how it is given back. */
    Plan<@Nullable Void> closing() {
        expireIfDue();
        if (endQuietly()) {
            return keeper.release(this);
        }
        return state.tellIfUntold() ? Plan.failed(notHeld("")) : Plan.DONE;
    }

    /**
     * Gives back a lease whose waiter has gone, at once, however long it was to stay taken: nobody has done anything under it. Whether
     * it was lost meanwhile is nobody's concern.
     */
    Plan<@Nullable Void> closingUnwanted() {
        unwanted = true;
        return closing().otherwise(e -> e instanceof NoLockException ? Plan.DONE : null);
    }

    /** Ends the lease here, without a word to the database; returns whether it was active. */
    boolean endQuietly() {
        return state.release();
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
        return "Lease[" + names + " #" + fence() + " " + state.now() + "]";
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

    /** Returns how long after it was taken the lease stays taken at least; null if it need not. */
    @Nullable
    Duration notFreeBefore() {
        return unwanted ? null : request.notFreeBefore();
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

    long acquiredAt() {
        return acquiredAt;
    }

    long deadline() {
        return state.deadline();
    }

    private long nanosLeft() {
        return deadline() - ticker.now() - state.slept(ticker.clocks());
    }

    /** Tells whether the host may have been suspended since the lease was confirmed last. */
    boolean mayHaveSlept() {
        return state.slept(ticker.clocks()) > 0;
    }

    /** Lets the lease pass on without a statement, with the fences of this reserve. */
    void passesOnWith(FenceReserve<LeaseHandle> fences) {
        reserve = fences;
    }

    /** Lets the lease pass on by a statement only, from now on. */
    void passesOnByStatement() {
        reserve = null;
    }

    /** Returns the fences with which the lease passes on; null if it passes on by a statement. */
    @Nullable
    FenceReserve<LeaseHandle> reserve() {
        return reserve;
    }

    /** Sets what both clocks showed when the lease was last known to be held. */
    void seenAt(Clocks clocks) {
        state.confirmedAt(clocks);
    }

    Clocks seenAt() {
        return state.confirmedAt();
    }

    /** Tells whether the lease is held as far as is known here, without counting as having told the holder. */
    boolean active() {
        return state.active();
    }

    boolean atRisk() {
        return state.now() == State.AT_RISK;
    }

    /** Notes what the database has confirmed, as {@link LeaseState#confirm} says. */
    boolean confirm(Clocks sentAt, long nanos) {
        return state.confirm(sentAt, nanos);
    }

    /** Marks the lease as in doubt, as {@link LeaseState#doubt} says. */
    boolean doubt(State doubtful, Clocks sentAt) {
        return state.doubt(doubtful, sentAt);
    }

    /** Ends the lease as lost, for ever. The holder is told by callback, if there is one, by state and by exception. */
    void lose(Gone reason) {
        end(false, reason, Runnable::run);
    }

    /** Ends the lease as lost, because it turned out at the release that it had been lost before. */
    NoLockException loseAtRelease(Gone reason) {
        end(true, reason, Runnable::run);
        return notHeld("");
    }

    private boolean end(boolean released, Gone reason, Executor telling) {
        boolean lost = state.lose(released, reason);
        if (lost) {
            toCall.begin();
            keeper.lost(this, reason.why(), telling);
        }
        return lost;
    }

    /** Ends the lease as lost if its deadline has passed: whoever looks first says so. */
    void expireIfDue() {
        expireIfDue(Runnable::run);
    }

    /** Ends the lease as lost if its deadline has passed; the listeners are told by the given executor. */
    void expireIfDue(Executor telling) {
        Clocks doubtful = state.doubtfulSince(ticker.clocks());
        if (doubtful != null) {
            keeper.ask(this, doubtful, telling);
        }
        if (!state.isOverdue(ticker.now())) {
            return;
        }
        Duration maxHold = request.maxHold();
        String reason = maxHold != null && ticker.now() - acquiredAt >= maxHold.toNanos()
                ? "it reached its maximum hold of " + Texts.of(maxHold)
                : "it expired: it could not be renewed in time";
        if (end(false, Gone.lost(reason), telling)) {
            // a renewal whose answer came too late may have prolonged it: nobody has it, so nobody must wait for it
            keeper.releaseLater(this);
        }
    }

    /** Counts the holder as told, by whatever exception it gets. */
    void holderIsTold() {
        state.tell();
    }

    /** Makes the exception that tells the holder why the lease is not held, and what follows from that. */
    NoLockException notHeld(String consequence) {
        return Objects.requireNonNullElse(state.tellWhyLost(), Gone.lost("it was given back"))
                .notHeld(key, consequence, null);
    }

    private void requireActive() {
        keeper.requireOpen();
        if (!isHeld()) {
            throw notHeld("");
        }
    }
}
