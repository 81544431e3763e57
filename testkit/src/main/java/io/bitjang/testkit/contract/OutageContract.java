// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.Lease.State;
import io.bitjang.LockId;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import io.bitjang.testkit.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The database can't be had for a while: restarted, unreachable or read-only. That is a failure, never a
 * "someone has it", and when it is over everything goes on.
 *
 * <p>Needs a database that is reached over the network and may be restarted.
 */
@Timeout(180)
public abstract class OutageContract extends OnLocks {

    private static final Duration LONG = Duration.ofSeconds(100);
    private static final long SOON_SECONDS = 60;
    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(SOON_SECONDS));

    /** For the databases. */
    protected OutageContract() {}

    private static void await(String what, java.util.function.BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SOON_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("Not within " + SOON_SECONDS + " s: " + what);
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    @Test
    void restart_of_the_server_ends_short_leases_and_no_long_ones_and_no_wait() throws Exception {
        // shorter than the quickest restart: PostgreSQL is back after a tenth of a second
        Lease shortLease = locks.lease(name("short"))
                .lasting(Duration.ofMillis(30))
                .tryAcquire()
                .orElseThrow();
        CountDownLatch lost = new CountDownLatch(1);
        shortLease.onLost(lease -> lost.countDown());
        Lease longLease = locks.lease(name("long"))
                .lasting(Duration.ofSeconds(60))
                .tryAcquire()
                .orElseThrow();
        Lease awaited = other.lease(name("awaited")).lasting(LONG).tryAcquire().orElseThrow();
        CompletableFuture<Lease> wait =
                locks.lease(name("awaited")).acquireAsync(PATIENT).toCompletableFuture();

        database.restart();

        assertThat(lost.await(SOON_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(shortLease.state()).isEqualTo(State.LOST);
        await("the long lease is renewed", () -> renewed(longLease));
        assertThat(longLease.state()).isEqualTo(State.HELD);
        awaited.close();
        Lease served = wait.get(SOON_SECONDS, TimeUnit.SECONDS);
        assertThat(served.fence()).isGreaterThan(awaited.fence());
        served.close();
        longLease.close();
        goesOn(locks);
    }

    private static boolean renewed(Lease lease) {
        try {
            lease.renew();
            return true;
        } catch (LockingFailException e) {
            // a connection of the pool that does not know yet; it looks at those that were idle for half a second
            pause(Duration.ofMillis(700));
            return false;
        }
    }

    private static void pause(Duration duration) {
        try {
            TimeUnit.NANOSECONDS.sleep(duration.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Timer, workers and renewals live: a lease outlives its own duration. */
    private void goesOn(Locks node) throws Exception {
        Duration duration = Duration.ofMillis(600);
        await("a lease is renewed twice", () -> {
            try (Lease lease = node.lease(name("goes-on")).lasting(duration).acquire(PATIENT)) {
                pause(duration.multipliedBy(2));
                return lease.isHeld();
            }
        });
    }

    @Test
    void read_only_database_is_a_failure_and_no_refusal() throws Exception {
        try (ReadOnlySwitch source = new ReadOnlySwitch(database)) {
            Locks node = closing(Locks.create(source));
            Lease lease = node.lease(name("lease")).lasting(LONG).tryAcquire().orElseThrow();
            LockId id = node.manager().tryLock("order", name("a"), "kim", LONG);
            assertThat(node.distLock().tryLock(name("dist"), "me", LONG)).isTrue();

            source.readOnly(true);

            fails(() -> node.lease(name("b")).tryAcquire());
            fails(() -> node.lease(name("b")).acquire(Wait.none()));
            fails(() -> node.lease(name("b")).acquire(Wait.upTo(Duration.ofMillis(500))));
            fails(() -> node.leaseAll(name("b"), name("c")).tryAcquire());
            fails(() -> node.manager().tryLock("order", name("b")));
            fails(() -> node.distLock().tryLock(name("b"), "me", LONG));
            fails(() -> node.distLock().unlock(name("dist"), "me"));
            fails(() -> node.manager().renew(id, LONG));
            fails(() -> node.manager().extendLockExpiration(id, LONG));
            fails(() -> node.manager().releaseLock(id));
            fails(lease::renew);
            assertThat(lease.isHeld()).isTrue();
            lease.close();

            source.readOnly(false);

            try (Lease next = other.lease(name("lease")).acquire(PATIENT)) {
                assertThat(next.fence()).isGreaterThan(lease.fence());
            }
            node.distLock().unlock(name("dist"), "me");
            node.manager().releaseLock(id);
        }
    }

    private static void fails(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(LockingFailException.class);
    }

    @Test
    void request_that_arrives_late_leaves_no_lock_behind() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(database)) {
            CountingDataSource source = new CountingDataSource(new ImpatientSource(database.through(proxy.port())));
            Locks node = closing(Locks.create(source));
            // taken and freed here once, so that the next attempt is one statement on every database
            long fence;
            try (Lease once = node.lease(name("a")).tryAcquire().orElseThrow()) {
                fence = once.fence();
            }
            source.onStatement(sql -> proxy.stall());
            assertThatThrownBy(() -> node.lease(name("a")).lasting(LONG).tryAcquire())
                    .isInstanceOf(LockingFailException.class);
            assertThat(fence()).as("nothing has arrived").isEqualTo(fence);

            source.clearHooks();
            proxy.resume();

            await("the request arrives", () -> fence() > fence);
            try (Lease next = other.lease(name("a")).acquire(PATIENT)) {
                assertThat(next.isHeld()).isTrue();
            }
        }
    }

    private long fence() {
        return other.admin().find(lockName("a")).orElseThrow().fence();
    }

    @Test
    void lease_is_lost_at_its_deadline_although_the_database_is_silent() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(database)) {
            Locks node = closing(Locks.create(new ImpatientSource(database.through(proxy.port()))));
            Lease lease = node.lease(name("a"))
                    .lasting(Duration.ofMillis(600))
                    .tryAcquire()
                    .orElseThrow();
            CountDownLatch lost = new CountDownLatch(1);
            lease.onLost(gone -> lost.countDown());
            proxy.stall();
            assertThat(lost.await(SOON_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(lease.state()).isEqualTo(State.LOST);
            proxy.resume();
            try (Lease next = other.lease(name("a")).acquire(PATIENT)) {
                assertThat(next.fence()).isGreaterThan(lease.fence());
            }
        }
    }

    @Test
    void wait_keeps_its_deadline_although_the_database_is_silent() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(database)) {
            Locks node = closing(Locks.create(new ImpatientSource(database.through(proxy.port()))));
            proxy.stall();
            long began = System.nanoTime();
            assertThatThrownBy(() -> node.lease(name("a")).acquire(Wait.upTo(Duration.ofMillis(200))))
                    .isInstanceOf(LockingFailException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(LONG.dividedBy(5));
            proxy.resume();
            try (Lease lease = node.lease(name("a")).acquire(PATIENT)) {
                assertThat(lease.isHeld()).isTrue();
            }
        }
    }
}
