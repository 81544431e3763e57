// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What the renewer does by itself, whatever the database: how many connections it takes, what it makes of failures and of silence. */
public abstract class RenewerContract extends OnObservedLocks {

    /** For the databases. */
    protected RenewerContract() {}

    private Map<LockName, Integer> renewals() {
        Map<LockName, Integer> renewals = new HashMap<>();
        events.stream()
                .filter(event -> event.kind() == Kind.RENEWED)
                .forEach(event -> renewals.merge(event.name(), 1, Integer::sum));
        return renewals;
    }

    private boolean allRenewed(List<Lease> leases, int times) {
        Map<LockName, Integer> renewals = renewals();
        return leases.stream().allMatch(lease -> renewals.getOrDefault(lease.name(), 0) >= times);
    }

    private List<Kind> kinds(Lease lease) {
        return events.stream()
                .filter(event -> event.name().equals(lease.name()) && event.fence() == lease.fence())
                .map(LockEvent::kind)
                .distinct()
                .toList();
    }

    @Test
    void a_released_lease_is_renewed_no_more() throws Exception {
        Lease released = node.lease(name("a")).lasting(LIVELY).acquire(Wait.none());
        Lease kept = node.lease(name("b")).lasting(LIVELY).acquire(Wait.none());
        Crew.eventually("both renewed", () -> allRenewed(List.of(released, kept), 1));
        released.close();
        events.clear();
        Crew.eventually("the other is renewed on", () -> allRenewed(List.of(kept), 2));

        // one that was under way when it was released may still be told
        assertThat(renewals().getOrDefault(released.name(), 0)).isLessThanOrEqualTo(1);
    }

    @Test
    void renewal_goes_on_after_failures() throws Exception {
        Lease lease = node.lease(name("job")).lasting(Duration.ofSeconds(9)).acquire(Wait.none());
        AtomicInteger failures = new AtomicInteger();
        seen.onStatement(sql -> {
            if (failures.incrementAndGet() <= 3) {
                throw new SQLException("The connection broke", "08006");
            }
        });

        untilTold(Kind.UNKNOWN);
        untilTold(Kind.RENEWED);

        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        assertThat(failures.get()).isGreaterThan(3);
        assertThat(kinds(lease)).containsExactly(Kind.ACQUIRED, Kind.UNKNOWN, Kind.RENEWED);
        assertThat(count(Kind.UNKNOWN)).as("told once, not at every failure").isEqualTo(1);
        assertThat(events).anySatisfy(event -> {
            assertThat(event.kind()).isEqualTo(Kind.UNKNOWN);
            assertThat(event.detail()).contains("The connection broke");
        });
    }

    @Test
    void while_the_answer_to_a_renewal_is_missing_the_lease_is_held_but_unknown() throws Exception {
        Lease lease = node.lease(name("job")).lasting(Duration.ofSeconds(8)).acquire(Wait.none());
        down();
        Crew.eventually("unknown", () -> lease.state() == Lease.State.UNKNOWN);

        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.remaining()).isPositive();
        up();
        Crew.eventually("held again", () -> lease.state() == Lease.State.HELD);
    }

    @Test
    void a_lease_that_could_not_be_renewed_in_time_is_lost_and_its_holder_told() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease =
                node.lease(name("job")).lasting(SHORT).acquire(Wait.none()).onLost(gone -> told.countDown());
        down();

        assertThat(told.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("expired"));
        // listeners and callbacks have a thread each: the callback may be the first
        untilTold(Kind.LOST);
        // UNKNOWN comes before it if the machine lets a renewal fail in time
        assertThat(kinds(lease)).endsWith(Kind.LOST).containsOnlyOnce(Kind.LOST).doesNotContain(Kind.RELEASED);
        up();
        assertThat(other.lease(name("job")).acquire(Wait.upTo(Crew.PATIENCE)).fence())
                .isGreaterThan(lease.fence());
    }

    @Test
    void a_database_that_hangs_does_not_delay_the_telling() throws Exception {
        CountDownLatch told = new CountDownLatch(3);
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            leases.add(node.lease(name("job" + i))
                    .lasting(LIVELY)
                    .acquire(Wait.none())
                    .onLost(gone -> told.countDown()));
        }
        Gate gate = hang();
        gate.untilReached();

        assertThat(told.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("told while the renewal still hangs")
                .isTrue();
        assertThat(leases).allSatisfy(lease -> assertThat(lease.state()).isEqualTo(Lease.State.LOST));
        gate.open();
    }

    @Test
    void the_telling_is_not_delayed_even_when_many_others_hang() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        node.lease(name("job"))
                .lasting(Duration.ofSeconds(1))
                .acquire(Wait.none())
                .onLost(gone -> told.countDown());
        Gate gate = hang();
        for (int i = 0; i < 30; i++) {
            node.lease(name("waits" + i)).acquireAsync(Wait.forever());
        }

        assertThat(told.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        gate.open();
    }

    @Test
    void a_listener_that_fails_does_not_end_the_renewing() throws Exception {
        AtomicInteger heard = new AtomicInteger();
        Locks mine = closing(builder()
                .owner("mine")
                .listener(event -> {
                    heard.incrementAndGet();
                    throw new IllegalStateException("a listener that fails");
                })
                .build());
        Lease lease = mine.lease(name("job")).lasting(LIVELY).acquire(Wait.none());

        renewedPastItsTime(() -> heard.get() > ROUNDS, lease);

        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        lease.close();
        assertThat(other.lease(name("job")).tryAcquire()).isPresent();
    }

    @Test
    void the_events_of_a_lease_tell_its_story() throws Exception {
        Lease lease = node.lease(name("job")).owner("kim").lasting(LIVELY).acquire(Wait.none());
        assertThat(node.lease(name("job")).tryAcquire()).isEmpty();
        untilTold(Kind.RENEWED);
        lease.close();

        assertThat(events.stream().map(LockEvent::kind).distinct())
                .containsExactlyInAnyOrder(Kind.ACQUIRED, Kind.REFUSED, Kind.RENEWED, Kind.RELEASED);
        assertThat(events).filteredOn(event -> event.kind() != Kind.REFUSED).allSatisfy(event -> {
            assertThat(event.name()).isEqualTo(lease.name());
            assertThat(event.fence()).isEqualTo(lease.fence());
            assertThat(event.owner()).isEqualTo("kim");
        });
    }
}
