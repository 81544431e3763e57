// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockException;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who waits in one process: served in the order of arrival, passed over when interrupted, and none forgotten. */
public abstract class QueueContract extends OnObservedLocks {

    /** For the databases. */
    protected QueueContract() {}

    @Test
    void threads_of_one_node_are_served_in_the_order_of_their_arrival() throws Exception {
        Lease first = locks.lease(name("job")).acquire(Wait.none());
        Queue<Integer> served = new ConcurrentLinkedQueue<>();
        List<Crew.Job<Long>> jobs = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int me = i;
            jobs.add(crew.start(() -> {
                        try (Lease lease = locks.lease(name("job")).acquire(Wait.forever())) {
                            served.add(me);
                            return lease.fence();
                        }
                    })
                    .untilItWaits());
        }

        first.close();

        List<Long> fences = new ArrayList<>(List.of(first.fence()));
        for (Crew.Job<Long> job : jobs) {
            fences.add(job.result());
        }
        assertThat(served).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        assertThat(fences).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void a_waiter_gets_a_lock_that_its_own_node_lost() throws Exception {
        Lease held = node.lease(name("job")).lasting(LIVELY).acquire(Wait.none());
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        takeAway(held);

        assertThat(waiter.result().fence()).isGreaterThan(held.fence());
    }

    @Test
    void an_interrupt_ends_the_wait_and_is_kept() throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.none());
        var interrupted = crew.start(() -> {
            assertThatThrownBy(() -> node.lease(name("job")).acquire(Wait.forever()))
                    .isInstanceOf(LockException.class)
                    .hasCauseInstanceOf(InterruptedException.class);
            return Thread.currentThread().isInterrupted();
        });
        interrupted.untilItWaits();
        var next = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        next.untilItWaits();

        interrupted.interrupt();

        assertThat(interrupted.result()).as("the interrupt flag").isTrue();
        assertThat(next.isDone()).isFalse();
        held.close();
        assertThat(next.result().fence()).isGreaterThan(held.fence());
    }

    @Test
    void an_interrupted_waiter_is_passed_over_at_the_hand_over() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        var interrupted = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        interrupted.untilItWaits();
        var next = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        next.untilItWaits();
        interrupted.interrupt();
        assertThatThrownBy(interrupted::result).isInstanceOf(LockException.class);

        held.close();

        assertThat(next.result().isHeld()).isTrue();
        assertThat(count(Kind.HANDED_OVER)).isEqualTo(1);
    }

    @Test
    void a_thread_that_is_interrupted_before_it_waits_does_not_wait() throws Exception {
        other.lease(name("job")).acquire(Wait.none());
        var interrupted = crew.start(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> node.lease(name("job")).acquire(Wait.forever()))
                    .isInstanceOf(LockException.class);
            return Thread.currentThread().isInterrupted();
        });

        assertThat(interrupted.result()).isTrue();
    }

    @Test
    void two_hundred_waiters_are_all_served() throws Exception {
        Lease held = locks.lease(name("job")).acquire(Wait.none());
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        List<Crew.Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Locks mine = i % 4 == 0 ? other : locks;
            jobs.add(crew.start(() -> {
                try (Lease lease = mine.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(60)))) {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    served.incrementAndGet();
                    inside.decrementAndGet();
                    return lease.isHeld();
                }
            }));
        }
        for (Crew.Job<Boolean> job : jobs) {
            job.untilItWaits();
        }
        held.close();
        for (Crew.Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }
        assertThat(served).hasValue(200);
        assertThat(other.lease(name("job")).tryAcquire()).isPresent();
    }
}
