// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockDeadlockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Two who wait for each other inside a process: it is seen at once. Across processes the deadline ends it, see {@link SessionLockContract}. */
public abstract class SessionDeadlockContract extends OnObservedLocks {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    /** For the databases. */
    protected SessionDeadlockContract() {}

    @Test
    void a_thread_that_would_wait_for_itself_is_told_at_once() {
        node.session(name("a"))
                .run(
                        Wait.none(),
                        () -> assertThatThrownBy(() -> node.session(name("a")).acquire(PATIENT))
                                .isInstanceOf(LockDeadlockException.class)
                                .hasMessageContaining(name("a"))
                                .hasMessageContaining("again()"));
    }

    @Test
    void two_locks_taken_crosswise_in_one_process_are_a_deadlock_of_both_names() throws Exception {
        CountDownLatch bothHeld = new CountDownLatch(2);
        Crew.Job<String> first = crew.start(() -> node.session(name("a")).call(PATIENT, () -> {
            bothHeld.countDown();
            bothHeld.await();
            return node.session(name("b")).call(PATIENT, () -> "both");
        }));
        try (SessionLock.Hold b = node.session(name("b")).acquire(PATIENT)) {
            bothHeld.countDown();
            bothHeld.await();
            first.untilItWaits();

            LockDeadlockException deadlock = (LockDeadlockException)
                    catchThrowable(() -> node.session(name("a")).acquire(PATIENT));

            assertThat(deadlock).hasMessageContaining(name("a")).hasMessageContaining(name("b"));
            assertThat(deadlock.cycle()).containsExactly(lockName("a"), lockName("b"));
        }
        assertThat(first.result()).isEqualTo("both");
    }

    @Test
    void to_wait_for_ever_while_holding_another_is_refused() {
        node.session(name("a"))
                .run(
                        Wait.none(),
                        () -> assertThatThrownBy(() -> node.session(name("b")).acquire(Wait.forever()))
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining(name("b"))
                                .hasMessageContaining("leaseAll"));
        assertThat(node.session(name("b")).call(Wait.forever(), () -> "alone")).isEqualTo("alone");
    }
}
