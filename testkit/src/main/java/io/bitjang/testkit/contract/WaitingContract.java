// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Who waits gets the lock, in order inside a node and with a share for every node. */
public abstract class WaitingContract extends OnObservedLocks {

    @Test
    void a_released_lock_is_handed_to_the_next_waiter_as_a_grant_of_its_own() throws Exception {
        Lease first = node.lease(name("job")).owner("first").acquire(Wait.none());
        var waiter = crew.start(
                () -> node.lease(name("job")).owner("second").note("next").acquire(Wait.forever()));
        waiter.untilItWaits();
        first.close();
        Lease second = waiter.result();

        assertThat(count(Kind.HANDED_OVER)).isEqualTo(1);
        assertThat(second.fence()).isGreaterThan(first.fence());
        assertThat(other.admin().find(second.name())).hasValueSatisfying(data -> {
            assertThat(data.owner()).isEqualTo("second");
            assertThat(data.note()).isEqualTo("next");
            assertThat(data.fence()).isEqualTo(second.fence());
        });
        Connection mine = transaction();
        assertThatThrownBy(() -> first.guard(mine))
                .as("the former holder's id is worth nothing")
                .isInstanceOf(NoLockException.class);
        first.close();
        second.renew();
        assertThat(other.lease(name("job")).tryAcquire()).isEmpty();
    }

    @Test
    void every_node_gets_its_share() throws Exception {
        int grants = 160;
        AtomicInteger left = new AtomicInteger(grants);
        AtomicInteger[] shares = {new AtomicInteger(), new AtomicInteger()};
        AtomicInteger inside = new AtomicInteger();
        AtomicLong lastFence = new AtomicLong();
        List<Crew.Job<Boolean>> jobs = new ArrayList<>();
        CountDownLatch start = new CountDownLatch(1);
        for (int i = 0; i < 8; i++) {
            int who = i % 2;
            Locks mine = who == 0 ? locks : other;
            jobs.add(crew.start(() -> {
                start.await();
                while (left.get() > 0) {
                    try (Lease lease = mine.lease(name("job")).acquire(Wait.upTo(Crew.PATIENCE))) {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        assertThat(lastFence.getAndSet(lease.fence())).isLessThan(lease.fence());
                        shares[who].incrementAndGet();
                        left.decrementAndGet();
                        // each holder has something to do, so that a run of hand-overs takes its time
                        Thread.sleep(4);
                        inside.decrementAndGet();
                    }
                }
                return true;
            }));
        }
        start.countDown();
        for (Crew.Job<Boolean> job : jobs) {
            job.result();
        }

        assertThat(List.of(shares[0].get(), shares[1].get()))
                .as("grants of each node")
                .allSatisfy(share -> assertThat(share).isGreaterThanOrEqualTo(grants / 8));
    }

    @Test
    void a_waiter_on_another_node_gets_the_lock_after_its_release() throws Exception {
        Lease held = locks.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> other.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        held.close();

        assertThat(waiter.result().fence()).isGreaterThan(held.fence());
    }

    @Test
    void a_waiter_gets_a_lock_that_expires_without_a_release() throws Exception {
        Lease held = node.lease(name("job")).lasting(LIVELY).acquire(Wait.none());
        var there = crew.start(() -> other.lease(name("job")).acquire(Wait.forever()));
        there.untilItWaits();
        down();

        assertThat(there.result().fence()).isGreaterThan(held.fence());
        assertThat(held.isHeld()).isFalse();
    }

    @Test
    void a_waiter_gets_a_lock_that_an_operator_took_away() throws Exception {
        Lease held = locks.lease(name("job")).acquire(Wait.none());
        var here = crew.start(() -> {
            try (Lease lease = locks.lease(name("job")).acquire(Wait.forever())) {
                return lease.fence();
            }
        });
        here.untilItWaits();
        var there = crew.start(() -> {
            try (Lease lease = other.lease(name("job")).acquire(Wait.forever())) {
                return lease.fence();
            }
        });
        there.untilItWaits();

        assertThat(node.admin().forceRelease(held.name(), held.fence(), "operator", "it hangs"))
                .isTrue();

        assertThat(List.of(here.result(), there.result()))
                .doesNotHaveDuplicates()
                .allMatch(fence -> fence > held.fence());
    }

    @Test
    void a_waiter_gets_a_lock_whose_node_was_closed() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> other.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        node.close();

        assertThat(waiter.result().fence()).isGreaterThan(held.fence());
    }

    @Test
    void a_waiter_gets_a_lock_that_was_freed_with_a_transaction() throws Exception {
        var lockId = locks.manager().tryLock("order", name("42"));
        var waiter = crew.start(() -> other.lease(lockId.name()).acquire(Wait.forever()));
        waiter.untilItWaits();
        Connection mine = transaction();
        locks.manager().releaseLock(mine, lockId);
        assertThat(waiter.isDone()).isFalse();
        mine.commit();

        assertThat(waiter.result().fence()).isGreaterThan(lockId.fence());
    }

    /**
     * A poll reads the row before it tries to take it. Where the database notifies, the first thing that the waiting node does
     * after the release is to take the lock; a poll now and then may come in between.
     */
    @Test
    void a_waiter_hears_of_a_release_where_the_database_can_notify() throws Exception {
        int rounds = 8;
        int withoutReading = 0;
        boolean notifies = database.name().equals("postgresql");
        for (int round = 0; round < rounds; round++) {
            Lease held = other.lease(name("job")).acquire(Wait.none());
            seen.reset();
            var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
            Crew.eventually("the holder's node knows that someone waits", this::isWanted);
            if (round == 0 && notifies) {
                Crew.eventually(
                        "the waiting node listens",
                        () -> seen.statements().stream().anyMatch(sql -> sql.startsWith("LISTEN")));
            }
            untilQuiet();
            seen.reset();
            held.close();
            waiter.result().close();
            boolean read = seen.statements().stream()
                    .anyMatch(sql -> sql.startsWith("SELECT") && !sql.contains("MERGE") && !sql.contains("advisory"));
            withoutReading += read ? 0 : 1;
        }

        if (notifies) {
            assertThat(withoutReading).as("rounds without a poll").isGreaterThanOrEqualTo(rounds / 2);
        } else {
            // but for one that was sent before it was counted, and arrived after the release
            assertThat(withoutReading).as("rounds without a poll").isLessThan(rounds / 2);
        }
    }

    /** Where the node polls all the time there is no such moment, and any will do. */
    private void untilQuiet() throws Exception {
        for (int tries = 0; tries < 20; tries++) {
            int before = seen.roundTrips();
            Thread.sleep(20);
            if (seen.roundTrips() == before && tries > 2) {
                return;
            }
        }
    }

    private boolean isWanted() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT wanted FROM bitjang_locks WHERE id = '" + name("job") + "'")) {
            return row.next() && row.getInt(1) != 0;
        }
    }

    @Test
    void a_wait_for_a_pinned_lock_ends_at_its_deadline() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        Connection pin = transaction();
        held.guard(pin);
        held.close();

        var waiter = crew.start(() -> {
            long began = System.nanoTime();
            assertThatThrownBy(() -> other.lease(name("job")).acquire(Wait.upTo(IN_VAIN)))
                    .isInstanceOf(AlreadyLockedException.class);
            return Duration.ofNanos(System.nanoTime() - began);
        });
        assertThat(waiter.result()).isBetween(IN_VAIN.minusMillis(5), Duration.ofSeconds(15));

        pin.commit();
        other.lease(name("job")).acquire(Wait.upTo(Crew.PATIENCE)).close();
    }
}
