// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.spi.LockEvent;
import io.bitjang.testkit.CountingDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;

/** One more node, whose statements and events are seen and whose database can be made to fail or to hang. */
public abstract class OnObservedLocks extends OnLocks {

    /** A lease that is soon lost without a database. */
    static final Duration SHORT = Duration.ofMillis(300);

    /** A lease that is renewed every two seconds, and outlives a machine that stands still for a moment. */
    static final Duration LIVELY = Duration.ofSeconds(6);

    /** How many renewals show that they go on: the first moves the lease's end, and the second comes after one. */
    static final int ROUNDS = Boolean.getBoolean("bitjang.soak") ? 4 : 2;

    /** A wait that ends without the lock, and not before a busy machine has found out who has it. */
    static final Duration IN_VAIN = Duration.ofSeconds(3);

    /** What the node's statements go through. */
    protected CountingDataSource seen;

    /** The node. */
    protected Locks node;

    /** What happened on the node. */
    final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();

    /** Threads. */
    Crew crew;

    /** For the contracts of this package. */
    @SuppressWarnings("NullAway.Init")
    protected OnObservedLocks() {}

    @BeforeEach
    final void observe() {
        seen = new CountingDataSource(pool);
        node = closing(Locks.builder(seen).owner("seen").listener(events::add).build());
        crew = closing(new Crew());
        // before the nodes are closed: they need their database for that
        AutoCloseable up = this::up;
        closing(up);
        seen.reset();
    }

    /** From now on every statement of the node fails, as when the connection breaks. */
    final void down() {
        seen.onStatement(sql -> {
            throw new SQLException("The database is down", "08006");
        });
    }

    /** The database is well again. */
    final void up() {
        seen.clearHooks();
    }

    /** From now on every statement of the node hangs, until the gate is opened. */
    final Gate hang() {
        Gate gate = closing(new Gate());
        seen.onStatement(sql -> gate.pass());
        return gate;
    }

    final long count(LockEvent.Kind kind) {
        return events.stream().filter(event -> event.kind() == kind).count();
    }

    /** Returns when such an event has been told. */
    final void untilTold(LockEvent.Kind kind) throws Exception {
        Crew.eventually("told " + kind, () -> count(kind) > 0);
    }

    /** Returns after {@link #ROUNDS}, and when the table has another end of the lease than before. */
    final void renewedPastItsTime(Callable<Boolean> rounds, Lease lease) throws Exception {
        Instant end = end(lease.name());
        Crew.eventually(
                "renewed so often, and past its time",
                () -> rounds.call()
                        && lease.names().stream().allMatch(name -> end(name).isAfter(end)));
    }

    private Instant end(LockName name) {
        return Objects.requireNonNull(other.admin().find(name).orElseThrow().expiresAt());
    }

    /** Lets the table alone believe that it has lapsed. */
    final void past(Lease lease) {
        for (LockName name : lease.names()) {
            database.execute("UPDATE bitjang_locks SET expires_at = acquired_at + 1 WHERE id = '" + name.id() + "'");
        }
    }

    /** Lets the holder's process lose it for good, without the process asking for its state. */
    final void takeAway(Lease lease) {
        lease.names().forEach(name -> other.admin().forceRelease(name, lease.fence(), "operator", "it hangs"));
    }

    /** Lets the node lose a lease for want of a database, and leaves it without one. */
    final void letExpire(Lease lease) throws Exception {
        down();
        Crew.eventually(
                "expired", () -> other.admin().find(lease.name()).stream().noneMatch(io.bitjang.LockData::held));
    }
}
