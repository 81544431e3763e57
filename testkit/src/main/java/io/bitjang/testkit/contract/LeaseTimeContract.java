// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** When a lease ends by the database's clock, what a renewal makes of that, and a loss that only the database knows of. */
public abstract class LeaseTimeContract extends OnObservedLocks {

    /** For the databases. */
    protected LeaseTimeContract() {}

    @Test
    void a_loss_that_only_shows_at_the_release_is_told_there() {
        Lease lease = node.lease(name("job")).acquire(Wait.none());
        takeAway(lease);

        assertThatThrownBy(lease::close).isInstanceOf(NoLockException.class).hasMessageContaining("it hangs");
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(count(Kind.LOST)).isEqualTo(1);
        assertThat(count(Kind.RELEASED)).isZero();
    }

    @Test
    void an_expired_lease_is_taken_by_the_next_owner() throws Exception {
        Lease former = node.lease(name("job")).lasting(SHORT).acquire(Wait.none());
        letExpire(former);

        Lease next = other.lease(name("job")).tryAcquire().orElseThrow();

        assertThat(next.fence()).isGreaterThan(former.fence());
        up();
        assertThatThrownBy(former::renew).isInstanceOf(NoLockException.class);
        assertThatCode(former::close).doesNotThrowAnyException();
        next.renew();
        assertThat(other.admin().find(next.name()))
                .hasValueSatisfying(data -> assertThat(data.fence()).isEqualTo(next.fence()));
    }

    @Test
    void a_lease_ends_here_before_it_ends_in_the_database() throws Exception {
        Lease lease = node.lease(name("job")).lasting(SHORT).acquire(Wait.none());
        down();

        Crew.eventually("it can be taken", () -> {
            boolean heldBefore = lease.isHeld();
            boolean taken = other.lease(name("job")).tryAcquire().isPresent();
            assertThat(taken && lease.isHeld()).as("held twice").isFalse();
            return taken && (heldBefore || !lease.isHeld());
        });
    }

    @Test
    void a_renewal_makes_the_lease_last_its_whole_time_again() throws Exception {
        Lease lease = locks.lease(name("job")).lasting(Duration.ofSeconds(60)).acquire(Wait.none());
        Instant before = expiry(lease);
        Crew.eventually("some of it is gone", () -> lease.remaining().compareTo(Duration.ofMillis(59_900)) < 0);

        lease.renew();

        assertThat(expiry(lease)).isAfter(before);
        assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(50));
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
    }

    private Instant expiry(Lease lease) {
        return other.admin().find(lease.name()).map(LockData::expiresAt).orElseThrow();
    }

    @Test
    void a_renewal_does_not_reach_beyond_the_maximum_hold() throws Exception {
        Lease lease = node.lease(name("job"))
                .lasting(Duration.ofSeconds(6))
                .maxHold(Duration.ofMillis(6500))
                .acquire(Wait.none());
        untilTold(Kind.RENEWED);

        LockData data = other.admin().find(lease.name()).orElseThrow();
        assertThat(data.expiresAt())
                .isBefore(Objects.requireNonNull(data.acquiredAt()).plusMillis(7_900));
        assertThat(lease.remaining()).isLessThan(Duration.ofMillis(5_700));
    }
}
