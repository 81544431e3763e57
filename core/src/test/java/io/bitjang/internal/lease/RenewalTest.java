// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.Lease;
import io.bitjang.Lease.State;
import io.bitjang.LockName;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.internal.time.Clocks;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Leases are renewed in the background, and loss is told. */
class RenewalTest extends OnEngine {

    @Test
    void lease_is_renewed_for_its_whole_time_when_a_third_has_passed() throws Exception {
        Grants.Outcome outcome = taken(JOB, request(), THIRD);
        Gate renewal = gate();
        seen.before(sql -> renewal.pass());
        LeaseHandle lease = granted(JOB, request(), outcome, THIRD);
        assertThat(lease.remaining()).isLessThanOrEqualTo(LONG.minus(THIRD));

        renewal.close();
        untilTold(Kind.RENEWED);

        assertThat(lease.remaining()).isGreaterThan(LONG.minus(THIRD.dividedBy(2)));
        assertThat(other.admin().find(JOB).orElseThrow().remaining()).isGreaterThan(LONG.minus(THIRD.dividedBy(2)));
        assertThat(lease.state()).isEqualTo(State.HELD);
    }

    @Test
    void lease_is_left_alone_before_that() throws Exception {
        leaseOf(JOB, request(), Duration.ZERO);
        due(LockName.of("sentinel"));
        untilTold(Kind.RENEWED);

        assertThat(events)
                .filteredOn(event -> event.kind() == Kind.RENEWED)
                .extracting(event -> event.name().id())
                .containsExactly("sentinel");
    }

    @Test
    void all_that_are_due_are_renewed_in_one_statement() throws Exception {
        int leases = 20;
        List<Grants.Outcome> outcomes = new ArrayList<>();
        for (int i = 0; i < leases; i++) {
            outcomes.add(engine.run(engine.grants.attempt(List.of(LockName.of("many" + i)), request(), 0)));
        }
        seen.reset();
        Clocks sentAt = ago(THIRD.minusMillis(500));
        for (int i = 0; i < leases; i++) {
            engine.run(engine.grants.granted(
                    List.of(LockName.of("many" + i)),
                    request(),
                    new Grants.Outcome(outcomes.get(i).answer(), sentAt)));
        }

        eventually("all renewed", () -> told(Kind.RENEWED) >= leases);

        // a few on a machine that stood still in between
        assertThat(seen.statements()).hasSizeLessThan(leases / 4);
        assertThat(seen.mostOpen()).isLessThanOrEqualTo(2);
    }

    /** A server may give each statement a time that is long enough for a few rows, and not for all that are due. */
    @Test
    void batch_that_the_server_cancels_is_renewed_in_parts() throws Exception {
        int leases = 20;
        List<Grants.Outcome> outcomes = new ArrayList<>();
        for (int i = 0; i < leases; i++) {
            outcomes.add(engine.run(engine.grants.attempt(List.of(LockName.of("many" + i)), request(), 0)));
        }
        seen.cancelAbove(3);
        Clocks sentAt = ago(THIRD.minusMillis(500));
        for (int i = 0; i < leases; i++) {
            engine.run(engine.grants.granted(
                    List.of(LockName.of("many" + i)),
                    request(),
                    new Grants.Outcome(outcomes.get(i).answer(), sentAt)));
        }

        eventually("all renewed, or not", () -> told(Kind.RENEWED) >= leases || told(Kind.UNKNOWN) > 0);

        assertThat(told()).doesNotContain(Kind.UNKNOWN);
    }

    @Test
    void lease_whose_row_is_locked_is_at_risk_and_renewed_when_it_is_free() throws Exception {
        Grants.Outcome outcome = taken(JOB, request(), THIRD);
        Connection blocker = locked(JOB);
        LeaseHandle lease = granted(JOB, request(), outcome, THIRD);
        untilTold(Kind.AT_RISK);
        assertThat(lease.state()).isEqualTo(State.AT_RISK);
        assertThat(lease.isHeld()).isTrue();

        blocker.rollback();
        lease.renew();

        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void locked_row_does_not_keep_others_from_their_renewal() throws Exception {
        List<Grants.Outcome> outcomes = new ArrayList<>();
        List<LockName> names = List.of(LockName.of("a"), LockName.of("b"), LockName.of("c"));
        for (LockName name : names) {
            outcomes.add(taken(name, request(), THIRD));
        }
        locked(names.get(1));
        for (int i = 0; i < names.size(); i++) {
            granted(names.get(i), request(), outcomes.get(i), THIRD);
        }

        eventually("the others are renewed", () -> told(Kind.RENEWED) >= 2);
        untilTold(Kind.AT_RISK);
        assertThat(events)
                .filteredOn(event -> event.kind() == Kind.AT_RISK)
                .allSatisfy(event -> assertThat(event.name()).isEqualTo(names.get(1)));
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void renewal_without_an_answer_is_unknown_and_tried_again() throws Exception {
        AtomicInteger failures = new AtomicInteger();
        Grants.Outcome outcome = taken(JOB, request(), THIRD);
        seen.before(sql -> {
            failures.incrementAndGet();
            throw new SQLException("No answer", "08006");
        });
        LeaseHandle lease = granted(JOB, request(), outcome, THIRD);

        untilTold(Kind.UNKNOWN);
        assertThat(lease.state()).isEqualTo(State.UNKNOWN);
        assertThat(lease.isHeld()).isTrue();
        seen.up();
        lease.renew();
        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(failures).hasPositiveValue();
    }

    @Test
    void failures_never_end_the_renewing() throws Exception {
        // short, so that the pauses between the attempts are, and long enough for a machine that stands still
        Duration duration = Duration.ofSeconds(15);
        Request brief = Request.of("node", duration, null);
        AtomicInteger failures = new AtomicInteger();
        Grants.Outcome outcome = engine.run(engine.grants.attempt(List.of(JOB), brief, 0));
        set("expires_at = expires_at + 60000000", JOB);
        seen.before(sql -> {
            if (failures.incrementAndGet() <= 2) {
                throw new SQLException("Something else", "58000");
            }
        });
        granted(JOB, brief, outcome, duration.dividedBy(3));

        eventually("renewed in the end, or its time is over", () -> told(Kind.RENEWED) + told(Kind.LOST) > 0);

        assertThat(failures).hasValueGreaterThan(2);
        assertThat(told(Kind.RENEWED)).isPositive();
    }

    @Test
    void whatever_a_data_source_throws_renewals_go_on_with_pauses_and_the_lease_is_kept() throws Exception {
        Duration duration = Duration.ofSeconds(15);
        Request brief = Request.of("node", duration, null);
        Grants.Outcome outcome = engine.run(engine.grants.attempt(List.of(JOB), brief, 0));
        AtomicInteger asked = new AtomicInteger();
        seen.onOpen(() -> {
            asked.incrementAndGet();
            throw new IllegalStateException("Cannot determine target DataSource for lookup key [null]");
        });
        LeaseHandle lease = granted(JOB, brief, outcome, duration.dividedBy(3));
        untilTold(Kind.UNKNOWN);
        int first = asked.get();
        eventually("it was tried again", () -> asked.get() > first);

        seen.up();
        untilTold(Kind.RENEWED);

        assertThat(asked.get()).isLessThan(20);
        assertThat(lease.state()).isEqualTo(State.HELD);
        assertThat(told(Kind.LOST)).isZero();
    }

    @Test
    void lease_that_another_has_taken_is_told_lost_with_the_reason() throws Exception {
        Grants.Outcome outcome = taken(JOB, request(), THIRD);
        expire(JOB);
        other.lease(JOB).acquire(Wait.none());
        CountDownLatch called = new CountDownLatch(1);
        LeaseHandle lease = granted(JOB, request(), outcome, THIRD);
        lease.onLost(lost -> called.countDown());

        assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
        // a callback that comes after the loss is called at once, perhaps before the listeners are
        untilTold(Kind.LOST);
        assertThat(detail(Kind.LOST)).contains("taken by other");
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(lease.lostBecause()).isPresent();
        assertThatCode(lease::close).doesNotThrowAnyException();
        assertThat(other.lease(JOB).tryAcquire()).as("the other's, still").isEmpty();
    }

    /** Whether the database skips the locked row or calls the whole statement busy. */
    @Test
    void group_that_has_lost_one_of_its_locks_is_told_although_the_row_of_another_is_locked() throws Exception {
        for (boolean busy : List.of(false, true)) {
            List<LockName> names = List.of(LockName.of("a" + busy), LockName.of("b" + busy));
            Grants.Outcome outcome = engine.run(engine.grants.attempt(names, request(), 0));
            expire(names.get(1));
            other.lease(names.get(1)).acquire(Wait.none());
            Connection transaction = locked(names.get(0));
            seen.before(sql -> {
                if (busy && sql.contains("UPDATE")) {
                    throw new SQLException("The row is locked", "HYT00", 50200);
                }
            });
            events.clear();

            LeaseHandle lease = engine.run(
                    engine.grants.granted(names, request(), new Grants.Outcome(outcome.answer(), ago(THIRD))));
            untilTold(Kind.LOST);

            assertThat(told()).as("busy: %s", busy).doesNotContain(Kind.AT_RISK);
            assertThat(lease.lostBecause())
                    .hasValueSatisfying(why -> assertThat(why).contains("taken by other"));
            transaction.rollback();
            seen.up();
        }
    }

    @Test
    void lease_that_ran_out_in_the_database_is_lost_and_not_renewed() throws Exception {
        Grants.Outcome outcome = taken(JOB, request(), THIRD);
        expire(JOB);
        LeaseHandle lease = granted(JOB, request(), outcome, THIRD);

        untilTold(Kind.LOST);

        assertThat(detail(Kind.LOST)).contains("expired");
        assertThat(lease.isHeld()).isFalse();
        assertThat(other.lease(JOB).tryAcquire()).isPresent();
    }

    @Test
    void deadline_is_told_while_the_database_hangs_and_the_late_answer_revives_nothing() throws Exception {
        Grants.Outcome outcome = taken(JOB, request(), THIRD);
        Gate gate = gate();
        seen.before(sql -> gate.pass());
        // the renewal must begin before they are over
        Duration left = Duration.ofSeconds(3);
        LeaseHandle lease = granted(JOB, request(), outcome, LONG.minus(left));
        gate.untilReached();
        // the renewal is with the database: the timer tells
        untilTold(Kind.LOST);
        assertThat(detail(Kind.LOST)).contains("expired");

        gate.close();
        seen.up();

        // prolonged by a renewal that nobody waited for: it is given back long before it ends
        Lease next = other.lease(JOB).acquire(PATIENT);
        assertThat(next.fence()).isGreaterThan(lease.fence());
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(lease.remaining()).isZero();
    }

    @Test
    void maximum_hold_ends_it_and_says_why() throws Exception {
        Request most = request().lasting(Duration.ofMillis(100)).heldAtMost(Duration.ofMillis(100));
        Grants.Outcome outcome = taken(JOB, most, Duration.ZERO);
        // in the database it is not over, however slow the machine is
        set("expires_at = expires_at + 60000000", JOB);
        LeaseHandle lease = granted(JOB, most, outcome, Duration.ZERO);

        untilTold(Kind.LOST);

        assertThat(detail(Kind.LOST)).contains("maximum hold");
        assertThatThrownBy(lease::renew).isInstanceOf(NoLockException.class);
    }

    @Test
    void renewal_does_not_reach_beyond_the_maximum_hold() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request().heldAtMost(LONG.plusSeconds(5)), THIRD);

        untilTold(Kind.RENEWED);

        Duration most = LONG.plusSeconds(5).minus(THIRD);
        assertThat(lease.remaining()).isLessThanOrEqualTo(most);
        assertThat(other.admin().find(JOB).orElseThrow().remaining()).isLessThanOrEqualTo(most.plusMillis(500));
    }

    @Test
    void released_lease_is_renewed_no_more() throws Exception {
        LeaseHandle lease = leaseOf(JOB, request(), Duration.ZERO);
        lease.close();
        seen.reset();
        events.clear();
        due(LockName.of("sentinel"));
        untilTold(Kind.RENEWED);

        assertThat(events).extracting(event -> event.name().id()).doesNotContain("job");
        assertThat(engine.held.all()).doesNotContain(lease);
    }
}
