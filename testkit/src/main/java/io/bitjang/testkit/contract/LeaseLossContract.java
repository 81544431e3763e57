// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockingFailException;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** How a lease ends against the holder's will, how the holder is told, and what it can do about it. */
public abstract class LeaseLossContract extends OnObservedLocks {

    private Lease lost() throws Exception {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        // on its own node, where it is told at once, though not by the lease
        node.admin().forceRelease(lease.name(), lease.fence(), "operator", "it hangs");
        untilTold(Kind.LOST);
        return lease;
    }

    @Test
    void closing_a_lost_lease_says_so_once() throws Exception {
        Lease lease = lost();

        assertThatThrownBy(lease::close)
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("operator")
                .hasMessageContaining("it hangs");
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
    }

    @Test
    void closing_does_not_repeat_what_the_state_has_told() throws Exception {
        Lease lease = lost();

        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("it hangs"));
        assertThatCode(lease::close).doesNotThrowAnyException();
    }

    @Test
    void closing_does_not_repeat_what_an_exception_has_told() throws Exception {
        Lease lease = lost();

        assertThatThrownBy(lease::renew).isInstanceOf(NoLockException.class).hasMessageContaining("it hangs");
        assertThatThrownBy(() -> lease.ensure(Duration.ofMillis(1))).isInstanceOf(NoLockException.class);
        assertThatCode(lease::close).doesNotThrowAnyException();
    }

    @Test
    void closing_does_not_repeat_what_the_callback_has_told() throws Exception {
        Queue<Lease> told = new ConcurrentLinkedQueue<>();
        Lease lease =
                node.lease(name("job")).lasting(LIVELY).acquire(Wait.none()).onLost(told::add);
        takeAway(lease);
        Crew.eventually("called back", () -> !told.isEmpty());

        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(told).containsExactly(lease);
    }

    @Test
    void each_callback_is_called_once_on_a_thread_of_the_librarys() throws Exception {
        Queue<String> threads = new ConcurrentLinkedQueue<>();
        Lease lease = node.lease(name("job")).lasting(LIVELY).acquire(Wait.none());
        lease.onLost(gone -> threads.add(Thread.currentThread().getName()));
        lease.onLost(gone -> {
            throw new IllegalStateException("a callback that fails");
        });
        lease.onLost(gone -> threads.add(Thread.currentThread().getName()));
        takeAway(lease);
        Crew.eventually("both called back", () -> threads.size() == 2);

        lease.onLost(gone -> threads.add(Thread.currentThread().getName()));
        Crew.eventually("the late one too", () -> threads.size() == 3);

        lease.close();
        assertThat(lease.isHeld()).isFalse();
        assertThat(threads).hasSize(3).allSatisfy(thread -> assertThat(thread).startsWith("bitjang-"));
        untilTold(Kind.LOST);
        assertThat(count(Kind.LOST)).isEqualTo(1);
    }

    @Test
    void a_released_lease_calls_nobody_back() throws Exception {
        Queue<Lease> told = new ConcurrentLinkedQueue<>();
        Lease lease =
                node.lease(name("job")).lasting(LIVELY).acquire(Wait.none()).onLost(told::add);
        lease.close();
        lease.onLost(told::add);
        Lease next = node.lease(name("job")).lasting(LIVELY).acquire(Wait.none());
        Crew.eventually("the next one is renewed", () -> count(Kind.RENEWED) > 1);

        assertThat(told).isEmpty();
        assertThat(lease.state()).isEqualTo(Lease.State.RELEASED);
        next.close();
    }

    @Test
    void a_lost_lease_has_nothing_left() throws Exception {
        Lease lease = lost();

        assertThat(lease.remaining()).isZero();
        assertThat(lease.isHeld()).isFalse();
        Connection mine = transaction();
        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);
    }

    @Test
    void a_lease_and_its_renewal_count_from_before_the_request_was_sent() {
        Duration way = Duration.ofMillis(300);
        seen.afterStatement(sql -> {
            for (long end = System.nanoTime() + way.toNanos(); System.nanoTime() < end; ) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        });
        Duration whole = Duration.ofSeconds(60);

        Lease lease = node.lease(name("job")).lasting(whole).acquire(Wait.none());
        assertThat(lease.remaining()).isLessThan(whole.minus(way.dividedBy(2)));

        lease.renew();
        assertThat(lease.remaining()).isLessThan(whole.minus(way.dividedBy(2)));
    }

    private Instant expiry(Lease lease) {
        return other.admin().find(lease.name()).map(LockData::expiresAt).orElseThrow();
    }

    @Test
    void to_ensure_a_time_that_is_left_asks_nobody() {
        Lease lease = node.lease(name("job")).lasting(Duration.ofSeconds(60)).acquire(Wait.none());
        seen.reset();

        lease.ensure(Duration.ofSeconds(20));

        assertThat(seen.statements()).isEmpty();
    }

    @Test
    void to_ensure_more_time_than_is_left_renews() throws Exception {
        Lease lease = node.lease(name("job")).lasting(Duration.ofSeconds(60)).acquire(Wait.none());
        Crew.eventually("some of it is gone", () -> lease.remaining().compareTo(Duration.ofMillis(59_900)) < 0);
        Instant before = expiry(lease);
        seen.reset();

        // nearly all of it: on a machine that is slow right now even a fresh lease may have less, and then it says so
        Crew.eventually("ensured", () -> {
            try {
                lease.ensure(Duration.ofMillis(59_900));
                return true;
            } catch (NoLockException e) {
                return false;
            }
        });

        assertThat(seen.statements()).isNotEmpty();
        assertThat(expiry(lease)).isAfter(before);
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void to_ensure_more_than_the_lease_can_last_is_refused_and_the_lease_is_kept() {
        Lease lease = locks.lease(name("job")).lasting(Duration.ofSeconds(60)).acquire(Wait.none());

        assertThatThrownBy(() -> lease.ensure(Duration.ofSeconds(61)))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("can't be held for 1 min 1 s: a lease of it lasts 1 min");
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void to_renew_without_a_database_fails_and_the_lease_is_kept() {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        down();

        assertThatThrownBy(lease::renew)
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("down");
        assertThatThrownBy(() -> lease.ensure(Duration.ofSeconds(30))).isInstanceOf(LockingFailException.class);

        up();
        assertThat(lease.isHeld()).isTrue();
        lease.renew();
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
    }

    @Test
    void a_maximum_hold_ends_the_renewing_and_says_why() throws Exception {
        Queue<Lease> told = new ConcurrentLinkedQueue<>();
        Duration most = LIVELY.plusSeconds(1);
        long before = System.nanoTime();
        Lease lease = node.lease(name("job"))
                .lasting(LIVELY)
                .maxHold(most)
                .acquire(Wait.none())
                .onLost(told::add);

        Lease next = other.lease(name("job")).acquire(Wait.upTo(Crew.PATIENCE));

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(most.minusMillis(20));
        Crew.eventually("called back", () -> !told.isEmpty());
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("maximum hold", most.toSeconds() + " s"));
        assertThat(count(Kind.RENEWED)).as("renewed until then").isPositive();
        assertThat(next.fence()).isGreaterThan(lease.fence());
    }

    @Test
    void more_than_the_maximum_hold_can_not_be_ensured() {
        Lease lease = locks.lease(name("job"))
                .lasting(Duration.ofSeconds(20))
                .maxHold(Duration.ofSeconds(25))
                .acquire(Wait.none());

        assertThatThrownBy(() -> lease.ensure(Duration.ofSeconds(30))).isInstanceOf(NoLockException.class);
        lease.ensure(Duration.ofSeconds(5));
    }
}
