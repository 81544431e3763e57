// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.Lease;
import io.bitjang.Lease.State;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No connection can be had for a while: a failure, never a refusal, and when it is over everything goes on. */
@Timeout(180)
public abstract class EmptyPoolContract extends OnLocks {

    private static final Duration LONG = Duration.ofSeconds(100);
    private static final long SOON_SECONDS = 60;
    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(SOON_SECONDS));

    /** For the databases. */
    protected EmptyPoolContract() {}

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
    void empty_pool_is_a_failure_and_no_refusal() throws Exception {
        HikariDataSource small = closing(database.pool(2));
        Locks node = closing(Locks.builder(small).build());
        List<Connection> all = List.of(small.getConnection(), small.getConnection());
        small.getHikariConfigMXBean().setConnectionTimeout(250);
        try {
            assertThatThrownBy(() -> node.lease(name("a")).tryAcquire()).isInstanceOf(LockingFailException.class);
            assertThatThrownBy(() -> node.distLock().tryLock(name("a"), "me", LONG))
                    .isInstanceOf(LockingFailException.class);
            assertThatThrownBy(() -> node.manager().tryLock("order", name("a")))
                    .isInstanceOf(LockingFailException.class);
        } finally {
            closeAll(all);
        }
        assertThat(node.lease(name("a")).tryAcquire()).isPresent();
    }

    @Test
    void wait_keeps_its_deadline_although_the_pool_is_empty() throws Exception {
        HikariDataSource small = closing(database.pool(2));
        Locks node = closing(Locks.builder(small).build());
        small.getHikariConfigMXBean().setConnectionTimeout(30_000);
        List<Connection> all = new ArrayList<>(List.of(small.getConnection(), small.getConnection()));
        try {
            long began = System.nanoTime();
            assertThatThrownBy(() -> node.lease(name("a")).acquire(Wait.upTo(Duration.ofMillis(300))))
                    .isInstanceOf(LockingFailException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .isBetween(Duration.ofMillis(299), LONG.dividedBy(5));
        } finally {
            closeAll(all);
        }
        try (Lease lease = node.lease(name("a")).acquire(PATIENT)) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void lease_that_can_not_be_renewed_for_want_of_a_connection_is_unknown_and_recovers() throws Exception {
        HikariDataSource small = closing(database.pool(2));
        Locks node = closing(Locks.builder(small).build());
        Lease lease = node.lease(name("a"))
                .lasting(Duration.ofSeconds(20))
                .tryAcquire()
                .orElseThrow();
        List<Connection> all = List.of(small.getConnection(), small.getConnection());
        small.getHikariConfigMXBean().setConnectionTimeout(250);
        try {
            await("the state is unknown", () -> lease.state() == State.UNKNOWN);
            assertThat(lease.isHeld()).isTrue();
        } finally {
            closeAll(all);
        }
        await("the state is held", () -> lease.state() == State.HELD);
        assertThat(other.lease(name("a")).tryAcquire()).isEmpty();
        lease.close();
        assertThat(other.lease(name("a")).tryAcquire()).isPresent();
    }

    private static void closeAll(List<Connection> connections) throws SQLException {
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
