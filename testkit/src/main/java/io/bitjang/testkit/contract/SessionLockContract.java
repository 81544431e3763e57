// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockException;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a session lock does: who gets it, who does not, and how it is given back. */
public abstract class SessionLockContract extends OnObservedLocks {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    /** For the databases. */
    protected SessionLockContract() {}

    @Test
    void one_has_it_and_the_others_are_refused() {
        try (SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none())) {
            assertThat(hold.isHeld()).isTrue();
            assertThat(hold.name()).isEqualTo(lockName("a"));
            assertThat(other.session(name("a")).tryAcquire()).isEmpty();
            assertThat(node.session(name("a")).tryAcquire()).isEmpty();
            assertThatThrownBy(() -> other.session(name("a")).acquire(Wait.none()))
                    .isInstanceOf(AlreadyLockedException.class)
                    .hasMessageContaining(name("a"));
            assertThatThrownBy(() -> other.session(name("a")).acquire(Wait.upTo(IN_VAIN)))
                    .isInstanceOf(AlreadyLockedException.class);
            assertThat(other.session(name("b")).tryRun(() -> {})).isTrue();
        }
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void it_is_taken_and_given_back_again_and_again() {
        for (int i = 0; i < 20; i++) {
            SessionLock.Hold hold =
                    (i % 2 == 0 ? node : other).session(name("a")).acquire(Wait.none());
            hold.close();
            hold.close();
            assertThat(hold.isHeld()).isFalse();
        }
    }

    @Test
    void whoever_waits_gets_it_when_it_is_given_back() throws Exception {
        SessionLock.Hold hold = other.session(name("a")).acquire(Wait.none());
        Crew.Job<Boolean> waiter = crew.start(() -> node.session(name("a"))
                        .call(
                                PATIENT,
                                () -> other.session(name("a")).tryAcquire().isEmpty()))
                .untilItWaits();

        hold.close();

        assertThat(waiter.result()).isTrue();
    }

    @Test
    void a_hold_is_entered_again_only_when_asked_to() {
        SessionLock.Hold outer = node.session(name("a")).acquire(Wait.none());
        SessionLock.Hold inner = outer.again();

        outer.close();
        assertThat(outer.isHeld()).isFalse();
        assertThat(inner.isHeld()).isTrue();
        assertThat(other.session(name("a")).tryAcquire()).isEmpty();
        assertThatThrownBy(outer::again).isInstanceOf(NoLockException.class);

        inner.close();
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void the_body_s_exception_comes_out_and_the_lock_is_free() {
        assertThatThrownBy(() -> node.session(name("a")).run(PATIENT, () -> {
                    throw new IOException("the body's own");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the body's own")
                .hasNoSuppressedExceptions();
        assertThat(other.session(name("a")).tryRun(() -> {})).isTrue();
    }

    @Test
    void execute_with_lock_answers_with_what_was_computed() {
        String answer = node.session(name("a"))
                .executeWithLock(
                        Duration.ofSeconds(30),
                        () -> other.session(name("a")).tryAcquire().isEmpty() ? "alone" : "not alone");

        assertThat(answer).isEqualTo("alone");
    }

    @Test
    void names_that_look_alike_are_different_locks() {
        String longName = "x".repeat(254);
        List<LockName> names = List.of(
                lockName("a"),
                lockName("A"),
                lockName("a "),
                lockName("é"),
                lockName("e"),
                lockName("😀"),
                LockName.of(longName + "1"),
                LockName.of(longName + "2"),
                LockName.of("order", name("1")),
                LockName.of("invoice", name("1")),
                LockName.of("orde", "r" + name("1")));

        for (LockName held : names) {
            node.session(held).run(Wait.none(), () -> {
                for (LockName each : names) {
                    assertThat(other.session(each).tryRun(() -> {}))
                            .as("%s while %s is held", each, held)
                            .isEqualTo(!each.equals(held));
                }
            });
        }
    }

    @Test
    void a_lease_of_the_same_name_is_another_lock() {
        node.session(name("a"))
                .run(
                        PATIENT,
                        () -> assertThat(node.lease(name("a")).tryRun(() -> {})).isTrue());
    }

    @Test
    void bad_input_is_refused_and_changes_nothing() {
        seen.reset();
        assertThatThrownBy(() -> node.session(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> node.session("x".repeat(256)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("255");
        assertThatThrownBy(() -> node.session("a\u0000b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> node.session(name("a")).executeWithLock(Duration.ofSeconds(-1), () -> "never"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("negative");
        assertThatThrownBy(() -> builder().maxSessionLocks(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().sessionWaiters(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder().sessionWaiters(9)).isInstanceOf(IllegalArgumentException.class);
        assertThat(seen.statements()).isEmpty();
    }

    @Test
    void an_interrupt_ends_the_wait_and_is_kept() throws Exception {
        SessionLock.Hold hold = other.session(name("a")).acquire(Wait.none());
        Crew.Job<Boolean> waiter = crew.start(() -> {
            assertThatThrownBy(() -> node.session(name("a")).acquire(PATIENT))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("Interrupted");
            return Thread.currentThread().isInterrupted();
        });
        waiter.untilItWaits();

        waiter.interrupt();

        assertThat(waiter.result()).isTrue();
        hold.close();
        assertThat(node.session(name("a")).call(PATIENT, () -> "had")).isEqualTo("had");
    }

    @Test
    void closing_the_instance_gives_everything_back_and_fails_who_waits() throws Exception {
        node.session(name("a")).acquire(Wait.none());
        SessionLock.Hold waitedFor = node.session(name("b")).acquire(PATIENT);
        SessionLock.Hold others = other.session(name("c")).acquire(Wait.none());
        Crew.Job<Throwable> waiter = crew.start(
                        () -> catchThrowable(() -> node.session(name("c")).acquire(PATIENT)))
                .untilItWaits();

        node.close();

        assertThat(waiter.result()).isInstanceOf(LockException.class).hasMessageContaining("closed");
        assertThat(waitedFor.isHeld()).isFalse();
        waitedFor.close();
        others.close();
        for (String each : List.of("a", "b", "c")) {
            assertThat(other.session(name(each)).call(PATIENT, () -> each)).isEqualTo(each);
        }
        assertThatThrownBy(() -> node.session(name("a")).tryAcquire()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void across_processes_the_deadline_ends_it() throws Exception {
        try (SessionLock.Hold b = other.session(name("b")).acquire(PATIENT)) {
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch otherGaveUp = new CountDownLatch(1);
            Crew.Job<Throwable> first = crew.start(() -> node.session(name("a")).call(PATIENT, () -> {
                held.countDown();
                Throwable thrown = catchThrowable(() -> node.session(name("b")).acquire(Wait.upTo(IN_VAIN)));
                otherGaveUp.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                return thrown;
            }));
            held.await();

            assertThatThrownBy(() -> other.session(name("a")).acquire(Wait.upTo(IN_VAIN)))
                    .isInstanceOf(AlreadyLockedException.class);
            otherGaveUp.countDown();
            assertThat(first.result()).isInstanceOf(AlreadyLockedException.class);
        }
    }
}
