// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockingFailException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Waiting without a thread. */
public abstract class AsyncContract extends OnObservedLocks {

    private CompletableFuture<Lease> acquire(Wait wait) {
        return node.lease(name("job")).acquireAsync(wait).toCompletableFuture();
    }

    @Test
    void a_free_lock_completes_the_stage() throws Exception {
        for (Wait wait : List.of(Wait.none(), Wait.upTo(Crew.PATIENCE), Wait.forever())) {
            try (Lease lease = Crew.result(acquire(wait))) {
                assertThat(lease.isHeld()).isTrue();
                assertThat(other.lease(name("job")).tryAcquire()).isEmpty();
            }
        }
    }

    @Test
    void a_lock_that_becomes_free_completes_the_stage() throws Exception {
        Lease held = other.lease(name("job")).acquire(Wait.none());
        CompletableFuture<Lease> stage = acquire(Wait.forever());
        assertThat(stage).isNotDone();
        held.close();

        assertThat(Crew.result(stage).fence()).isGreaterThan(held.fence());
    }

    @Test
    void a_lock_that_stays_held_fails_the_stage_at_its_deadline() {
        other.lease(name("job")).owner("kim").acquire(Wait.none());

        assertThatThrownBy(() -> Crew.result(acquire(Wait.upTo(IN_VAIN))))
                .hasCauseInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("kim");
        assertThatThrownBy(() -> Crew.result(acquire(Wait.none()))).hasCauseInstanceOf(AlreadyLockedException.class);
    }

    @Test
    void a_database_that_fails_fails_the_stage_at_its_deadline() {
        seen.onStatement(sql -> {
            throw new SQLException("The disk is full", "53100");
        });

        assertThatThrownBy(() -> Crew.result(acquire(Wait.upTo(IN_VAIN))))
                .hasCauseInstanceOf(LockingFailException.class)
                .hasMessageContaining("The disk is full");
        assertThatThrownBy(() -> Crew.result(acquire(Wait.none()))).hasCauseInstanceOf(LockingFailException.class);
    }

    @Test
    void threads_and_stages_are_served_in_the_order_of_their_arrival() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        CompletableFuture<Lease> first = acquire(Wait.forever());
        var second = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        second.untilItWaits();
        CompletableFuture<Lease> third = acquire(Wait.forever());

        held.close();
        Lease one = Crew.result(first);
        assertThat(second.isDone()).isFalse();
        one.close();
        Lease two = second.result();
        assertThat(third).isNotDone();
        two.close();
        Lease three = Crew.result(third);

        assertThat(List.of(held.fence(), one.fence(), two.fence(), three.fence()))
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    void a_cancelled_wait_leaves_the_queue() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        CompletableFuture<Lease> cancelled = acquire(Wait.forever());
        CompletableFuture<Lease> next = acquire(Wait.forever());

        assertThat(cancelled.cancel(true)).isTrue();
        assertThat(next).isNotDone();
        held.close();

        assertThat(Crew.result(next).isHeld()).isTrue();
        assertThat(count(Kind.HANDED_OVER)).as("straight to the next one").isEqualTo(1);
    }

    @Test
    void a_wait_that_is_cancelled_while_its_grant_is_on_the_way_gives_it_back() throws Exception {
        Gate gate = closing(new Gate());
        seen.afterStatement(sql -> gate.pass());
        CompletableFuture<Lease> cancelled = acquire(Wait.forever());
        gate.untilReached();
        cancelled.cancel(true);
        up();
        gate.open();

        other.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(15))).close();
    }

    @Test
    void what_follows_a_stage_does_not_run_on_the_thread_that_closes() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        CountDownLatch proceed = new CountDownLatch(1);
        CompletableFuture<Thread> ran = acquire(Wait.forever()).thenApply(lease -> {
            try {
                assertThat(proceed.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            lease.close();
            return Thread.currentThread();
        });

        // would never return if the follow-up ran here
        held.close();
        proceed.countDown();

        assertThat(Crew.result(ran)).isNotSameAs(Thread.currentThread());
    }

    @Test
    void follow_ups_that_take_their_time_keep_nobody_else_waiting() throws Exception {
        CountDownLatch proceed = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> slow = new ArrayList<>();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            held.add(node.lease(name("slow" + i)).acquire(Wait.none()));
            slow.add(node.lease(name("slow" + i))
                    .acquireAsync(Wait.forever())
                    .toCompletableFuture()
                    .thenApply(lease -> {
                        try {
                            return proceed.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        } finally {
                            lease.close();
                        }
                    }));
        }
        held.forEach(Lease::close);

        Crew.result(acquire(Wait.forever())).close();

        proceed.countDown();
        for (CompletableFuture<Boolean> each : slow) {
            assertThat(Crew.result(each)).isTrue();
        }
    }

    @Test
    void two_hundred_stages_are_all_served_one_at_a_time() throws Exception {
        Lease held = node.lease(name("job")).acquire(Wait.none());
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Integer>> stages = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            stages.add(acquire(Wait.forever()).thenApply(lease -> {
                int holders = inside.incrementAndGet();
                inside.decrementAndGet();
                lease.close();
                return holders;
            }));
        }
        held.close();

        for (CompletableFuture<Integer> stage : stages) {
            assertThat(Crew.result(stage)).isEqualTo(1);
        }
    }
}
