// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that waits for what only it could give back is told so at once. */
@Timeout(20)
class SelfWaitTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    private void assertDeadlock(org.assertj.core.api.ThrowableAssert.ThrowingCallable wait) {
        assertThatThrownBy(wait)
                .isInstanceOfSatisfying(
                        LockDeadlockException.class, e -> assertThat(e.cycle()).containsExactly(JOB))
                .hasMessageContaining("wait for itself");
    }

    @Test
    void body_of_a_run_that_waits_for_its_own_lock_is_told() {
        node.lease(JOB).run(PATIENT, () -> {
            assertDeadlock(() -> node.lease(JOB).run(PATIENT, () -> {}));
            assertDeadlock(() -> node.lease(JOB).call(PATIENT, () -> 1));
            assertDeadlock(() -> node.lease(JOB).acquire(PATIENT));
            assertDeadlock(() -> node.leaseAll("another", "job").acquire(PATIENT));
            assertThat(node.lease(JOB).tryAcquire()).isEmpty();
        });
        node.lease(JOB).call(PATIENT, () -> {
            assertDeadlock(() -> node.lease(JOB).acquire(Wait.forever()));
            return 1;
        });
        assertThat(node.lease(JOB)
                        .tryRun(() -> assertDeadlock(() -> node.lease(JOB).acquire(PATIENT))))
                .isTrue();
        assertThat(node.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void two_lock_objects_of_one_name_do_not_wait_for_each_other_in_one_thread() throws Exception {
        Lock one = node.lease(JOB).asLock();
        Lock two = node.lease(JOB).asLock();
        one.lock();

        assertDeadlock(two::lock);
        assertDeadlock(two::lockInterruptibly);
        assertDeadlock(() -> two.tryLock(1, TimeUnit.HOURS));
        assertThat(two.tryLock()).isFalse();
        one.lock();
        one.unlock();
        one.unlock();

        two.lock();
        two.unlock();
    }

    @Test
    void lease_that_another_thread_may_close_is_waited_for_with_a_warning() throws Exception {
        LogLines log = closing(LogLines.warnings());
        Job<Lease> waits = start(() -> {
            Lease own = node.lease(JOB).acquire(Wait.none());
            start(() -> {
                eventually(
                        "it is waited for", () -> node.admin().here().stream().anyMatch(lock -> lock.waiters() > 0));
                own.close();
                return own;
            });
            return node.lease(JOB).acquire(PATIENT);
        });

        assertThat(waits.result().isHeld()).isTrue();
        assertThat(log.lines()).anyMatch(line -> line.contains("waits for job") && line.contains("itself"));
    }

    @Test
    void thread_to_which_a_lock_passed_on_is_the_one_that_has_it() throws Exception {
        Lock lock = node.lease(JOB).asLock();
        lock.lock();
        Job<String> next = start(() -> {
            node.lease(JOB)
                    .run(PATIENT, () -> assertDeadlock(() -> node.lease(JOB).acquire(PATIENT)));
            return "told";
        });
        next.untilItWaits();

        lock.unlock();
        assertThat(next.result()).isEqualTo("told");

        node.lease(JOB).run(PATIENT, () -> {});
    }
}
