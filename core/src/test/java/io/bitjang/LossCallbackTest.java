// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.bitjang.Lease.State;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Who is told of a loss, on which threads and in which order. */
class LossCallbackTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    private Lease lease() {
        return node.lease(JOB).acquire(Wait.none());
    }

    /** One that takes its time would keep all other leases from being renewed. */
    @Test
    void listeners_are_not_told_by_the_thread_that_keeps_the_time() throws Exception {
        Queue<String> tellers = new ConcurrentLinkedQueue<>();
        Locks observed = closing(builder()
                .listener(event ->
                        tellers.add(event.kind() + " " + Thread.currentThread().getName()))
                .build());
        observed.lease(JOB).lasting(Duration.ofMillis(300)).acquire(Wait.none());
        down();

        eventually("it is told", () -> tellers.stream().anyMatch(teller -> teller.startsWith("LOST")));

        assertThat(tellers).noneMatch(teller -> teller.contains("bitjang-timer"));
    }

    @Test
    void each_callback_is_called_once_on_a_thread_of_the_librarys_and_a_late_one_at_once() throws Exception {
        Queue<String> called = new ConcurrentLinkedQueue<>();
        Lease lease = lease();
        lease.onLost(lost -> called.add(Thread.currentThread().getName()));
        lease.onLost(lost -> called.add(Thread.currentThread().getName()));
        node.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");
        eventually("both called", () -> called.size() == 2);
        lease.onLost(lost -> called.add(Thread.currentThread().getName()));
        eventually("the late one too", () -> called.size() == 3);

        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(called).hasSize(3).allSatisfy(name -> assertThat(name).startsWith("bitjang-callback"));
    }

    @Test
    void callbacks_that_take_their_time_cost_few_threads_and_hold_up_nobody_else_who_is_to_be_told() throws Exception {
        int many = 300;
        Gate slow = gate();
        Queue<String> called = new ConcurrentLinkedQueue<>();
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            String name = "many" + i;
            Lease lease = node.lease(name).acquire(Wait.none());
            leases.add(lease.onLost(lost -> slow.pass()).onLost(lost -> called.add(name)));
        }

        for (Lease lease : leases) {
            assertThat(node.admin().forceRelease(lease.name(), lease.fence(), "ops", "all of them"))
                    .isTrue();
        }

        assertThat(leases).allSatisfy(lease -> assertThat(lease.state()).isEqualTo(State.LOST));
        assertThat(told(Kind.LOST)).isEqualTo(many);
        assertThat(callbackThreads()).isBetween(1L, 16L);
        assertThat(called).isEmpty();
        slow.close();
        eventually("all were called", () -> called.size() == many);
        assertThat(called).doesNotHaveDuplicates();
    }

    private static long callbackThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("bitjang-callback"))
                .count();
    }

    @Test
    void callback_that_fails_with_an_error_does_not_keep_the_next_from_being_called() throws Exception {
        Gate next = gate();
        Lease lease = lease();
        lease.onLost(lost -> {
            throw new StackOverflowError("somebody else's");
        });
        lease.onLost(lost -> next.pass());

        node.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs");

        next.untilReached();
    }

    @Test
    void callback_that_was_left_before_the_loss_is_called_before_one_that_comes_after_it() throws Exception {
        Gate told = gate();
        Queue<String> called = new ConcurrentLinkedQueue<>();
        Locks mine = closing(builder()
                .listener(event -> {
                    if (event.kind() == Kind.LOST) {
                        told.pass();
                    }
                })
                .build());
        Lease lease = mine.lease(JOB).acquire(Wait.none()).onLost(lost -> called.add("left before"));
        start(() -> mine.admin().forceRelease(JOB, lease.fence(), "ops", "it hangs"));
        told.untilReached();

        lease.onLost(lost -> called.add("left after"));

        eventually("one is called", () -> !called.isEmpty());
        told.close();
        eventually("both are called", () -> called.size() == 2);
        assertThat(called).containsExactly("left before", "left after");
    }
}
