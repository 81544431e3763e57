// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.SessionLock;
import io.bitjang.Wait;
import io.bitjang.testkit.CountingDataSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Session locks on a database that is silent or down: every wait ends, and a session that does not answer is given up. */
public abstract class SessionSilenceContract extends OnObservedLocks {

    private static final Wait PATIENT = Wait.upTo(Duration.ofSeconds(30));

    /** For the databases. */
    protected SessionSilenceContract() {}

    /** With another node, whose connection was silent before it held anything: both at once, because it takes five seconds. */
    @Test
    void a_session_that_does_not_answer_is_given_up() throws Exception {
        SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none());
        CountDownLatch told = new CountDownLatch(1);
        hold.onLost(lost -> told.countDown());
        CountingDataSource empty = new CountingDataSource(pool);
        Locks second = closing(Locks.builder(empty).owner("second").build());
        Gate gate = hang();
        // the nodes need their database when they are closed
        AutoCloseable well = empty::clearHooks;
        closing(well);
        empty.onStatement(sql -> gate.pass());
        long before = System.nanoTime();

        assertThatThrownBy(() -> second.session(name("b")).acquire(Wait.upTo(Duration.ofMillis(100))))
                .isInstanceOf(LockingFailException.class);

        assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(hold.isHeld()).isFalse();
        // nothing but the watch ends this
        Crew.eventually("the connection is cut", () -> empty.open() == 0);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(20));

        // a driver's statement fails by that, one that waits at the gate does not
        up();
        empty.clearHooks();
        gate.close();
        assertThat(second.session(name("b")).call(PATIENT, () -> "had")).isEqualTo("had");
    }

    @Test
    void a_wait_ends_at_its_deadline_although_the_database_is_silent() throws Exception {
        hang();
        long before = System.nanoTime();

        assertThatThrownBy(() -> node.session(name("a")).acquire(Wait.upTo(Duration.ofMillis(300))))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("has not answered");

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(15));
    }

    @Test
    void many_who_wait_for_a_silent_database_give_up_and_are_served_when_it_answers_again() throws Exception {
        Gate gate = hang();
        List<Crew.Job<Throwable>> jobs = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            String each = name("many" + i);
            jobs.add(crew.start(
                    () -> catchThrowable(() -> node.session(each).acquire(Wait.upTo(Duration.ofMillis(500))))));
        }
        for (Crew.Job<Throwable> job : jobs) {
            assertThat(job.result()).isInstanceOf(LockingFailException.class);
        }

        gate.close();
        up();

        assertThat(node.session(name("many29")).call(PATIENT, () -> "had")).isEqualTo("had");
    }

    @Test
    void closing_the_instance_does_not_wait_for_a_silent_database() {
        SessionLock.Hold hold = node.session(name("a")).acquire(Wait.none());
        hang();
        long before = System.nanoTime();

        node.close();

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(20));
        assertThat(hold.isHeld()).isFalse();
    }

    @Test
    void a_database_that_is_down_is_a_failure_and_not_a_refusal() {
        down();
        assertThatThrownBy(() -> node.session(name("a")).tryAcquire()).isInstanceOf(LockingFailException.class);
        assertThatThrownBy(() -> node.session(name("a")).acquire(Wait.upTo(Duration.ofMillis(200))))
                .isInstanceOf(LockingFailException.class);
        up();
        assertThat(node.session(name("a")).call(PATIENT, () -> "had")).isEqualTo("had");
    }
}
