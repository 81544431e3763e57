// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.testkit.CountingDataSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Nothing is sent and no thread runs while there is nothing to do. */
public abstract class QuietContract extends OnObservedLocks {

    /** For the databases. */
    protected QuietContract() {}

    @Test
    void threads_that_queue_here_cost_nothing_while_this_node_has_the_lock() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        seen.reset();
        long before = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            crew.start(() -> {
                try (Lease lease = node.lease(name("job")).acquire(Wait.forever())) {
                    return lease.fence();
                }
            });
        }
        Thread.sleep(500);

        int looks = seen.statements().size();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - before);
        assertThat((long) looks).as("one look at the table a second at most").isLessThanOrEqualTo(1 + seconds);
        held.close();
        Crew.eventually("all had it", () -> count(Kind.RELEASED) == 21);
    }

    @Test
    void nothing_happens_between_renewals() throws Exception {
        Lease lease = node.lease(name("job")).lasting(Duration.ofMinutes(1)).acquire(Wait.none());

        seen.reset();
        Thread.sleep(1000);

        assertThat(seen.statements()).isEmpty();
        assertThat(seen.opened()).as("connections").isZero();
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void nothing_happens_while_idle() throws Exception {
        CountingDataSource quiet = new CountingDataSource(pool);
        closing(Locks.builder(quiet).owner("quiet").build());
        quiet.reset();
        Thread.sleep(1000);

        assertThat(quiet.statements()).isEmpty();
        assertThat(quiet.opened()).isZero();
        // those of the test before may still be ending
        Crew.eventually("no thread runs", () -> threads().isEmpty());
    }

    @Test
    void the_threads_end_when_nothing_is_locked_any_more() throws Exception {
        Lease held = other.lease(name("job")).lasting(LIVELY).acquire(Wait.none());
        var waiter = crew.start(() -> node.lease(name("job")).lasting(LIVELY).acquire(Wait.forever()));
        waiter.untilItWaits();
        // not later: they end soon after there is nothing to do
        assertThat(threads()).isNotEmpty();
        held.close();
        waiter.result().close();

        Crew.eventually("no thread is left", () -> threads().isEmpty());
        assertThat(seen.open()).isZero();
    }

    @Test
    void a_holder_for_whom_nobody_waits_keeps_no_connection() throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.forever());
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        held.close();
        Lease lease = waiter.result();

        Crew.eventually(
                "all connections are back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        assertThat(lease.isHeld()).isTrue();
        lease.close();
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(thread -> thread.startsWith("bitjang-"))
                .toList();
    }
}
