// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease.State;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is given back is free, however the database answers; and what was granted to nobody is given back. */
class ReleaseTest extends OnH2 {

    private static final LockName JOB = LockName.of("job");

    /** Before its lease of a minute has ended. */
    private Lease isFree(LockName name) {
        return other.lease(name).acquire(PATIENT);
    }

    @Test
    void closed_lease_is_free_at_once_and_can_be_closed_again() {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        lease.close();
        Lease next = other.lease(JOB).tryAcquire().orElseThrow();

        lease.close();

        assertThat(next.fence()).isGreaterThan(lease.fence());
        assertThat(node.lease(JOB).tryAcquire()).isEmpty();
        assertThat(told()).containsExactly(Kind.ACQUIRED, Kind.RELEASED, Kind.REFUSED);
    }

    @Test
    void release_that_fails_goes_on_in_the_background() {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        down();

        assertThatCode(lease::close).doesNotThrowAnyException();

        assertThat(told()).contains(Kind.RELEASE_FAILED).doesNotContain(Kind.RELEASED);
        assertThat(other.lease(JOB).tryAcquire()).isEmpty();
        seen.up();
        assertThat(isFree(JOB).fence()).isGreaterThan(lease.fence());
    }

    @Test
    void release_of_a_row_that_a_transaction_has_locked_is_put_off() throws Exception {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        Connection blocker = locked(JOB);

        lease.close();

        assertThat(told(Kind.RELEASE_FAILED)).isEqualTo(1);
        assertThat(detail(Kind.RELEASE_FAILED)).contains("locked");
        blocker.rollback();
        assertThat(isFree(JOB).isHeld()).isTrue();
    }

    @Test
    void release_on_an_interrupted_thread_is_put_off_too_and_keeps_the_flag() throws Exception {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        Connection locking = locked(JOB);

        Thread.currentThread().interrupt();
        lease.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(lease.state()).isEqualTo(State.RELEASED);
        assertThat(told(Kind.RELEASE_FAILED)).isEqualTo(1);
        locking.rollback();
        eventually("it is free", () -> other.lease(JOB).tryAcquire().isPresent());
    }

    @Test
    void attempt_that_is_interrupted_while_its_outcome_is_sought_leaves_no_lock_behind() throws Exception {
        node.lease(JOB).acquire(Wait.none()).close();
        Connection locking = locked(JOB);
        seen.reset();
        Gate sent = gate();
        seen.before(sql -> {
            sent.pass();
            throw new SQLException("The connection broke", "08006");
        });
        Job<Object> attempt = start(() -> node.lease(JOB).tryAcquire());
        sent.untilReached();
        seen.up();
        attempt.interrupt();
        sent.close();
        assertThatThrownBy(attempt::result).isInstanceOf(LockException.class).hasMessageContaining("Interrupted");
        String secret = seen.parameters().stream()
                .filter(text -> text.length() == 22)
                .findFirst()
                .orElseThrow();
        locking.rollback();

        // the request arrives after all
        set("lock_id = '" + secret + "', expires_at = expires_at + 3600000000", JOB);

        eventually("it is free", () -> other.lease(JOB).tryAcquire().isPresent());
    }

    @Test
    void release_that_was_put_off_never_frees_the_successors_lock() throws Exception {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        down();
        lease.close();
        expire(JOB);
        Lease successor = other.lease(JOB).acquire(Wait.none());
        AtomicInteger tries = new AtomicInteger();
        seen.before(sql -> tries.incrementAndGet());

        // an update, and a read that tells why nothing changed
        eventually("it was tried", () -> tries.get() >= 2);

        successor.renew();
        assertThat(node.lease(JOB).tryAcquire()).isEmpty();
        assertThat(column("fence", JOB)).isEqualTo(String.valueOf(successor.fence()));
    }

    @Test
    void release_whose_answer_was_lost_is_a_release() {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        loseNextAnswer();
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(isFree(JOB).isHeld()).isTrue();

        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        loseNextAnswer();
        assertThatCode(() -> node.manager().releaseLock(id)).doesNotThrowAnyException();
        assertThat(other.lease(id.name()).tryAcquire()).isPresent();
    }

    @Test
    void attempt_whose_answer_was_lost_is_found_to_be_granted() throws Exception {
        loseNextAnswer();

        Lease lease = node.lease(JOB).tryAcquire().orElseThrow();

        assertThat(column("fence", JOB)).isEqualTo(String.valueOf(lease.fence()));
        lease.renew();
        lease.close();
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void attempt_that_never_arrived_is_repeated_under_a_new_id() throws Exception {
        AtomicInteger statements = new AtomicInteger();
        seen.before(sql -> {
            if (statements.incrementAndGet() == 1) {
                throw new SQLException("It never arrived", "08006");
            }
        });

        Lease lease = node.lease(JOB).tryAcquire().orElseThrow();
        String id = column("lock_id", JOB);

        // the first id is released in the background again and again, which must not touch the second
        int before = statements.get();
        eventually("it was released", () -> statements.get() > before);
        assertThat(column("lock_id", JOB)).isEqualTo(id);
        lease.renew();
    }

    @Test
    void attempt_of_which_nothing_is_known_is_a_failure_and_leaves_no_lock_behind() throws Exception {
        seen.after(sql -> {
            down();
            throw new SQLException("The answer is lost", "08006");
        });

        assertThatThrownBy(() -> node.lease(JOB).tryAcquire()).isInstanceOf(LockingFailException.class);

        assertThat(column("lock_id", JOB)).as("it was granted").isNotNull();
        seen.up();
        assertThat(isFree(JOB).isHeld()).isTrue();
    }

    @Test
    void hand_over_whose_answer_was_lost_has_one_holder() throws Exception {
        Lease held = node.lease(JOB).acquire(Wait.none());
        Job<Lease> next = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        eventually("it stands in line", () -> node.admin().here().stream().anyMatch(lock -> lock.waiters() == 1));
        loseNextAnswer();

        held.close();

        Lease handed = next.result();
        assertThat(column("fence", JOB)).isEqualTo(String.valueOf(handed.fence()));
        handed.renew();
        assertThat(other.lease(JOB).tryAcquire()).isEmpty();
        handed.close();
        assertThat(isFree(JOB).isHeld()).isTrue();
    }

    @Test
    void extension_is_not_repeated_when_its_answer_was_lost() {
        LockId id = node.manager().tryLock("order", "42", "kim", LONG);
        Instant before = other.manager().checkLock(id).expiresAt();
        loseNextAnswer();

        assertThatThrownBy(() -> node.manager().extendLockExpiration(id, LONG))
                .isInstanceOf(LockingFailException.class);

        assertThat(other.manager().checkLock(id).expiresAt()).isEqualTo(before.plus(LONG));
    }

    @Test
    void renewal_is_repeated_when_its_answer_was_lost() {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        loseNextAnswer();

        assertThatCode(lease::renew).doesNotThrowAnyException();
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
    }

    @Test
    void lock_that_may_not_be_free_yet_stays_taken_until_then_under_an_id_that_nobody_has() throws Exception {
        Duration least = Duration.ofSeconds(30);
        Lease lease = node.lease(JOB).notFreeBefore(least).acquire(Wait.none());
        String id = column("lock_id", JOB);

        lease.close();

        assertThat(other.lease(JOB).tryAcquire()).isEmpty();
        assertThat(column("expires_at - acquired_at", JOB)).isEqualTo("30000000");
        assertThat(column("lock_id", JOB)).isNotEqualTo(id).isNotNull();
        expire(JOB);
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void row_that_is_locked_for_long_counts_as_taken_and_is_not_waited_for() throws Exception {
        node.lease(JOB).acquire(Wait.none()).close();
        locked(JOB);

        assertThat(node.lease(JOB).tryAcquire()).isEmpty();
        assertThat(other.lease(JOB).tryAcquire()).isEmpty();
    }
}
