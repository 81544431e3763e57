// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.contract.StatementFaults.Fault;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each statement of each operation meets a fault once: its session is killed by the server before it is sent or after it was done,
 * or its reply never arrives. The database itself can be reached all the time, so no operation may suffer: what became of the
 * statement is found out, and nobody is left with a lock that they don't know of. The leases are long: a lock that is free in time
 * was freed, it did not expire.
 *
 * <p>Needs a database that is reached over the network.
 */
@Timeout(120)
public abstract class StatementFaultContract extends OnLocks {

    private static final Duration LONG = Duration.ofSeconds(100);
    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(20));
    private static final int MOST_STATEMENTS = 20;

    private StatementFaults faults;

    /** The node whose statements fail. */
    private Locks hit;

    /** A node that has no trouble. */
    private Locks calm;

    /** For the databases. */
    @SuppressWarnings("NullAway.Init")
    protected StatementFaultContract() {}

    @BeforeEach
    @SuppressWarnings("NullAway.Init")
    final void openFaulty() throws Exception {
        faults = closing(new StatementFaults(database));
        calm = closing(Locks.builder(database.dataSource()).owner("calm").build());
    }

    /** What is tried, and looked at afterwards, with the fault at one statement after the other. */
    @FunctionalInterface
    private interface Scenario {
        void run(String name, Runnable arm) throws Exception;
    }

    private void atEachStatement(Fault fault, Scenario scenario) throws Exception {
        int struck = 0;
        while (true) {
            int n = struck + 1;
            String name = name(fault.name().toLowerCase(Locale.ROOT) + n);
            boolean happened;
            // a new one each time: what the one before still does in the background would count among the statements
            try (Locks node = Locks.builder(faults.source()).owner("hit").build()) {
                hit = node;
                scenario.run(name, () -> faults.arm(fault, n, name));
                happened = faults.disarm();
            }
            if (!happened) {
                break;
            }
            struck++;
            assertThat(struck).as("faults").isLessThan(MOST_STATEMENTS);
        }
        assertThat(struck).as("faults that happened").isPositive();
    }

    /** The lease is what the table says, and it ends when it is closed. */
    private void isHeldUntilClosed(Lease lease) {
        assertThat(lease.isHeld()).isTrue();
        for (LockName name : lease.names()) {
            assertThat(calm.admin().find(name)).hasValueSatisfying(row -> {
                assertThat(row.held()).isTrue();
                assertThat(row.fence()).isEqualTo(lease.fence());
            });
        }
        lease.close();
        for (LockName name : lease.names()) {
            isFreeAfter(name, lease.fence());
        }
    }

    private void isFreeAfter(LockName name, long fence) {
        try (Lease next = calm.lease(name).lasting(LONG).acquire(PATIENT)) {
            assertThat(next.fence()).isGreaterThan(fence);
        }
    }

    @ParameterizedTest
    @EnumSource
    void attempt_at_a_name_never_seen_is_granted(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            arm.run();
            Lease lease = hit.lease(name).lasting(LONG).tryAcquire().orElseThrow();
            faults.pause();
            isHeldUntilClosed(lease);
        });
    }

    @ParameterizedTest
    @EnumSource
    void attempt_at_a_free_lock_is_granted(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            calm.lease(name).tryAcquire().orElseThrow().close();
            arm.run();
            Lease lease = hit.lease(name).lasting(LONG).tryAcquire().orElseThrow();
            faults.pause();
            isHeldUntilClosed(lease);
        });
    }

    @ParameterizedTest
    @EnumSource
    void wait_ends_with_the_lease(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            arm.run();
            Lease lease = hit.lease(name).lasting(LONG).acquire(PATIENT);
            faults.pause();
            isHeldUntilClosed(lease);
        });
    }

    @ParameterizedTest
    @EnumSource
    void several_names_are_granted_together(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            arm.run();
            Lease lease = hit.leaseAll(name + "a", name + "b", name + "c")
                    .lasting(LONG)
                    .tryAcquire()
                    .orElseThrow();
            faults.pause();
            isHeldUntilClosed(lease);
        });
    }

    @ParameterizedTest
    @EnumSource
    void closed_lease_is_free_for_others(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            Lease lease = hit.lease(name).lasting(LONG).tryAcquire().orElseThrow();
            arm.run();
            lease.close();
            isFreeAfter(lease.name(), lease.fence());
        });
    }

    @ParameterizedTest
    @EnumSource
    void closed_lease_of_several_names_is_free_for_others(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            Lease lease = hit.leaseAll(name + "a", name + "b")
                    .lasting(LONG)
                    .tryAcquire()
                    .orElseThrow();
            arm.run();
            lease.close();
            for (LockName freed : lease.names()) {
                isFreeAfter(freed, lease.fence());
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void renewed_lease_stays_held_and_fails_at_most_once(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            Lease lease = hit.lease(name).lasting(LONG).tryAcquire().orElseThrow();
            arm.run();
            try {
                lease.renew();
            } catch (LockingFailException e) {
                assertThat(lease.isHeld()).isTrue();
            }
            faults.pause();
            lease.renew();
            assertThat(lease.state()).isEqualTo(Lease.State.HELD);
            isHeldUntilClosed(lease);
        });
    }

    @ParameterizedTest
    @EnumSource
    void lock_handed_over_has_one_holder(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> isHeldUntilClosed(handedOver(name, arm)));
    }

    @Test
    void lock_handed_over_is_not_given_back_while_its_outcome_is_found_out_slowly() throws Exception {
        Thread closing = Thread.currentThread();
        atEachStatement(Fault.REPLY_LOST, (name, arm) -> {
            faults.source().onStatement(sql -> {
                if (Thread.currentThread() == closing && faults.hasStruck()) {
                    sleep(Duration.ofMillis(600));
                }
            });
            isHeldUntilClosed(handedOver(name, arm));
        });
    }

    /** The lease of one who waited in the same process, after the one before it was closed. */
    private Lease handedOver(String name, Runnable arm) throws Exception {
        Lease first = hit.lease(name).lasting(LONG).tryAcquire().orElseThrow();
        CompletableFuture<Lease> next = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try {
                next.complete(hit.lease(name).lasting(LONG).acquire(PATIENT));
            } catch (RuntimeException e) {
                next.completeExceptionally(e);
            }
        });
        waiting.start();
        awaitParked(waiting);
        arm.run();
        first.close();
        Lease second = next.get(60, TimeUnit.SECONDS);
        faults.pause();
        waiting.join();
        assertThat(second.fence()).isGreaterThan(first.fence());
        assertThat(first.state()).isEqualTo(Lease.State.RELEASED);
        return second;
    }

    private static void sleep(Duration duration) {
        try {
            TimeUnit.NANOSECONDS.sleep(duration.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(thread.isAlive()).isTrue();
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @EnumSource
    void offline_lock_is_taken_checked_renewed_and_released(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            arm.run();
            LockId id = hit.manager().tryLock("order", name, "kim", LONG);
            LockData checked = hit.manager().checkLock(id);
            hit.manager().renew(id, LONG.multipliedBy(2));
            hit.manager().leave(id, LONG);
            hit.manager().releaseLock(id);
            assertThat(checked.fence()).isEqualTo(id.fence());
            isFreeAfter(LockName.of("order", name), id.fence());
        });
    }

    @ParameterizedTest
    @EnumSource
    void lock_by_owner_is_taken_entered_again_and_released(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            arm.run();
            assertThat(hit.distLock().tryLock(name, "node", LONG)).isTrue();
            assertThat(hit.distLock().tryLock(name, "node", LONG)).isTrue();
            hit.distLock().unlock(name, "node");
            assertThat(calm.distLock().tryLock(name, "other node", LONG)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void expiry_is_extended_once_or_the_caller_is_told(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            LockId id = calm.manager().tryLock("order", name, "kim", LONG);
            LockData before = calm.manager().checkLock(id);
            arm.run();
            boolean told = false;
            try {
                hit.manager().extendLockExpiration(id, LONG);
            } catch (LockingFailException e) {
                told = true;
            }
            Duration added = Duration.between(
                    before.expiresAt(), calm.manager().checkLock(id).expiresAt());
            assertThat(added).isIn(told ? List.of(Duration.ZERO, LONG) : List.of(LONG));
        });
    }

    @ParameterizedTest
    @EnumSource
    void guard_that_fails_says_so_and_leaves_the_lock_held(Fault fault) throws Exception {
        atEachStatement(fault, (name, arm) -> {
            LockId id = calm.manager().tryLock("order", name, "kim", LONG);
            Connection connection = faults.source().getConnection();
            connection.setAutoCommit(false);
            arm.run();
            try {
                hit.manager().checkLock(connection, id);
            } catch (LockingFailException e) {
                assertThat(e.name()).hasValue(LockName.of("order", name));
            }
            // not close(): some drivers would throw, having nobody left to tell that the transaction is over
            connection.abort(Runnable::run);
            assertThatCode(() -> calm.manager().checkLock(id)).doesNotThrowAnyException();
        });
    }
}
