// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.Lease;
import io.bitjang.LockName;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Leases are renewed in the background, whatever happens meanwhile, and a holder hears when they are not. */
public abstract class RenewalContract extends OnObservedLocks {

    /** On PostgreSQL a renewal passes the pin of a guard, elsewhere it does not. */
    private boolean renewalPassesPins() {
        return database.name().equals("postgresql");
    }

    /** H2 can't skip a locked row: a statement that meets one waits for a second or two. */
    private Duration pinned() {
        return database.name().equals("h2") ? Duration.ofSeconds(12) : Duration.ofSeconds(9);
    }

    private List<Lease> acquire(int count, Duration lasting) {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            leases.add(
                    node.lease(name("many%03d".formatted(i))).lasting(lasting).acquire(Wait.none()));
        }
        return leases;
    }

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
    void many_leases_are_renewed_past_their_time() throws Exception {
        List<Lease> leases = acquire(60, LIVELY);

        renewedPastItsTime(() -> allRenewed(leases, ROUNDS), leases.get(7));

        assertThat(leases).allSatisfy(lease -> assertThat(lease.state()).isEqualTo(Lease.State.HELD));
        assertThat(count(Kind.LOST)).isZero();
        assertThat(other.lease(leases.get(7).name()).tryAcquire()).isEmpty();
    }

    /** More than one statement can hold, so that two are under way at the same time. */
    @Test
    void however_many_there_are_they_are_renewed_on_two_connections() throws Exception {
        List<Lease> leases = acquire(Boolean.getBoolean("bitjang.soak") ? 2_100 : 1_100, Duration.ofSeconds(9));
        events.clear();
        // by then they are renewed at the same time
        Crew.eventually("each renewed once", () -> allRenewed(leases, 1));
        seen.reset();

        Crew.eventually("each renewed once more", () -> allRenewed(leases, 2));

        assertThat(seen.maxOpen()).isLessThanOrEqualTo(2);
        assertThat(count(Kind.LOST)).isZero();
    }

    @Test
    void a_lease_that_was_taken_away_is_told_at_its_next_renewal() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = node.lease(name("job"))
                .lasting(Duration.ofSeconds(9))
                .acquire(Wait.none())
                .onLost(gone -> told.countDown());
        Lease bystander =
                node.lease(name("bystander")).lasting(Duration.ofSeconds(9)).acquire(Wait.none());

        takeAway(lease);

        assertThat(told.await(Crew.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("operator", "it hangs"));
        assertThat(bystander.isHeld()).isTrue();
        assertThat(kinds(bystander)).doesNotContain(Kind.LOST, Kind.AT_RISK);
    }

    @Test
    void a_lease_that_another_took_meanwhile_is_told_by_whom() throws Exception {
        Lease lease = node.lease(name("job")).lasting(Duration.ofSeconds(9)).acquire(Wait.none());
        takeAway(lease);
        Lease next = other.lease(name("job")).owner("kim").acquire(Wait.none());

        untilTold(Kind.LOST);

        assertThat(lease.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("kim"));
        assertThat(next.isHeld()).isTrue();
        next.renew();
    }

    @Test
    void a_pinned_lease_is_at_risk_until_the_guarded_transaction_ends() throws Exception {
        Lease lease = node.lease(name("job")).lasting(pinned()).acquire(Wait.none());
        Connection mine = transaction();
        lease.guard(mine);

        if (renewalPassesPins()) {
            Crew.eventually("renewed past the pin", () -> allRenewed(List.of(lease), 3));
            assertThat(lease.state()).isEqualTo(Lease.State.HELD);
            mine.commit();
            assertThat(kinds(lease)).containsExactly(Kind.ACQUIRED, Kind.RENEWED);
            return;
        }
        untilTold(Kind.AT_RISK);
        assertThat(lease.state()).isEqualTo(Lease.State.AT_RISK);
        assertThat(lease.isHeld()).isTrue();
        mine.commit();
        untilTold(Kind.RENEWED);
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        assertThat(kinds(lease)).containsExactly(Kind.ACQUIRED, Kind.AT_RISK, Kind.RENEWED);
    }

    @Test
    void the_others_are_renewed_in_time_past_an_open_pin() throws Exception {
        Lease first = node.lease(name("aaa")).lasting(pinned()).acquire(Wait.none());
        List<Lease> others = acquire(200, pinned());
        Connection mine = transaction();
        first.guard(mine);
        events.clear();

        Crew.eventually(
                "each renewed past its time",
                () -> allRenewed(others, database.name().equals("h2") ? 2 : 4));

        mine.commit();
        assertThat(others).allSatisfy(lease -> assertThat(lease.state()).isEqualTo(Lease.State.HELD));
        assertThat(events)
                .filteredOn(event -> event.kind() == Kind.LOST)
                .as("lost, but for the one that was pinned past its time")
                .allSatisfy(event -> assertThat(event.name()).isEqualTo(first.name()));
        assertThat(first.isHeld() || !renewalPassesPins()).isTrue();
    }
}
