// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LockData;
import io.bitjang.LockException;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Leases: taking them, running under them, giving them back. */
public abstract class LeaseContract extends OnObservedLocks {

    /** What a body of the caller's throws. */
    private static final class Checked extends Exception {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void a_free_lock_is_granted_and_refused_to_everyone_else() {
        Lease lease = locks.lease(name("job")).tryAcquire().orElseThrow();

        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.name()).isEqualTo(lockName("job"));
        assertThat(lease.names()).containsExactly(lockName("job"));
        assertThat(lease.fence()).isPositive();
        assertThat(other.lease(name("job")).tryAcquire()).isEmpty();
        assertThat(locks.lease(name("job")).tryAcquire())
                .as("the owner is a label only")
                .isEmpty();
    }

    @Test
    void a_closed_lease_frees_the_lock_at_once() {
        Lease lease = locks.lease(name("job")).acquire(Wait.none());
        lease.close();

        assertThat(lease.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(other.lease(name("job")).tryAcquire()).isPresent();
    }

    @Test
    void an_acquire_without_waiting_is_refused_and_says_by_whom() {
        locks.lease(name("job")).owner("kim").note("the report").acquire(Wait.none());

        assertThatThrownBy(() -> other.lease(name("job")).acquire(Wait.none()))
                .asInstanceOf(InstanceOfAssertFactories.type(AlreadyLockedException.class))
                .satisfies(refusal -> {
                    assertThat(refusal.name()).contains(lockName("job"));
                    assertThat(refusal.holder()).hasValueSatisfying(holder -> {
                        assertThat(holder.owner()).isEqualTo("kim");
                        assertThat(holder.note()).isEqualTo("the report");
                    });
                });
    }

    @Test
    void an_acquire_that_may_wait_gets_a_free_lock_at_once() {
        try (Lease upTo = locks.lease(name("a")).acquire(Wait.upTo(Crew.PATIENCE));
                Lease forever = locks.lease(name("b")).acquire(Wait.forever())) {
            assertThat(upTo.isHeld()).isTrue();
            assertThat(forever.isHeld()).isTrue();
        }
    }

    @Test
    void an_acquire_that_waited_in_vain_says_who_has_the_lock() {
        locks.lease(name("job")).owner("kim").acquire(Wait.none());

        assertThatThrownBy(() -> other.lease(name("job")).acquire(Wait.upTo(IN_VAIN)))
                .asInstanceOf(InstanceOfAssertFactories.type(AlreadyLockedException.class))
                .satisfies(refusal ->
                        assertThat(refusal.holder()).map(LockData::owner).contains("kim"));
    }

    @Test
    void the_owner_and_the_note_of_a_lease_are_seen_by_an_operator() {
        Lease lease = locks.lease(name("job")).owner("kim").note("the report").acquire(Wait.none());

        assertThat(other.admin().find(lease.name())).hasValueSatisfying(data -> {
            assertThat(data.held()).isTrue();
            assertThat(data.owner()).isEqualTo("kim");
            assertThat(data.note()).isEqualTo("the report");
            assertThat(data.fence()).isEqualTo(lease.fence());
        });
    }

    @Test
    void a_lease_lasts_thirty_seconds_unless_set_otherwise() {
        Lease usual = locks.lease(name("a")).acquire(Wait.none());
        Lease set = locks.lease(name("b")).lasting(Duration.ofMinutes(2)).acquire(Wait.none());

        assertThat(usual.remaining()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(30));
        assertThat(set.remaining()).isBetween(Duration.ofSeconds(100), Duration.ofSeconds(120));
        assertThat(other.admin().find(set.name()))
                .hasValueSatisfying(data -> assertThat(data.remaining())
                        .as("ends here before it ends in the database")
                        .isGreaterThanOrEqualTo(set.remaining()));
    }

    @Test
    void closing_twice_is_fine_and_does_not_free_what_the_next_one_has() {
        Lease first = locks.lease(name("job")).acquire(Wait.none());
        first.close();
        Lease next = other.lease(name("job")).acquire(Wait.none());

        first.close();

        assertThat(next.isHeld()).isTrue();
        next.renew();
    }

    @Test
    void the_fence_grows_with_every_grant_whatever_kind_it_is() throws Exception {
        List<Long> fences = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            try (Lease lease = (i % 2 == 0 ? locks : other).lease(name("job")).acquire(Wait.none())) {
                fences.add(lease.fence());
            }
        }
        Lease handed = node.lease(name("job")).lasting(LIVELY).acquire(Wait.none());
        fences.add(handed.fence());
        var waiter = crew.start(() -> node.lease(name("job")).lasting(SHORT).acquire(Wait.forever()));
        waiter.untilItWaits();
        handed.close();
        Lease lapsing = waiter.result();
        fences.add(lapsing.fence());
        assertThat(count(Kind.HANDED_OVER)).isEqualTo(1);
        letExpire(lapsing);
        try (Lease group = other.leaseAll(name("job"), name("another")).acquire(Wait.none())) {
            fences.add(group.fence());
        }
        try (Lease last = locks.lease(name("job")).acquire(Wait.none())) {
            fences.add(last.fence());
        }

        assertThat(fences).isSorted().doesNotHaveDuplicates().hasSize(24);
    }

    @Test
    void a_fence_grows_even_beyond_the_clock() {
        Lease before = locks.lease(name("job")).acquire(Wait.none());
        long ahead = before.fence() + 1_000_000_000_000_000L;
        before.close();
        database.execute("UPDATE bitjang_locks SET fence = " + ahead + " WHERE id = '" + name("job") + "'");

        assertThat(locks.lease(name("job")).acquire(Wait.none()).fence()).isEqualTo(ahead + 1);
    }

    @Test
    void a_body_runs_under_the_lease_and_the_lock_is_free_afterwards() {
        AtomicReference<@Nullable Boolean> free = new AtomicReference<>();
        boolean ran = locks.lease(name("job"))
                .tryRun(() -> free.set(other.lease(name("job")).tryAcquire().isPresent()));
        assertThat(ran).isTrue();
        assertThat(free.get()).isFalse();

        locks.lease(name("job")).run(Wait.none(), () -> free.set(null));
        assertThat(free.get()).isNull();

        assertThat(locks.lease(name("job")).<String, RuntimeException>call(Wait.none(), () -> "done"))
                .isEqualTo("done");
        assertThat(other.lease(name("job")).tryAcquire()).isPresent();
    }

    @Test
    void a_body_is_skipped_when_someone_else_has_the_lock() {
        locks.lease(name("job")).acquire(Wait.none());

        boolean ran = other.lease(name("job")).tryRun(() -> {
            throw new AssertionError("ran");
        });

        assertThat(ran).isFalse();
        assertThatThrownBy(() -> other.lease(name("job")).run(Wait.none(), () -> {
                    throw new AssertionError("ran");
                }))
                .isInstanceOf(AlreadyLockedException.class);
    }

    /** Its throws clause is half of the test: no other checked exception may come out. */
    private void runs(Checked thrown, int way) throws Checked {
        switch (way) {
            case 0 ->
                locks.lease(name("job")).tryRun(() -> {
                    throw thrown;
                });
            case 1 ->
                locks.lease(name("job")).run(Wait.none(), () -> {
                    throw thrown;
                });
            default ->
                locks.lease(name("job")).call(Wait.none(), () -> {
                    throw thrown;
                });
        }
    }

    @Test
    void a_body_keeps_its_own_type_of_exception_and_the_lock_is_given_back() {
        for (int way = 0; way < 3; way++) {
            Checked thrown = new Checked();
            int chosen = way;
            assertThatThrownBy(() -> runs(thrown, chosen)).isSameAs(thrown);
            assertThat(thrown.getSuppressed()).isEmpty();
            Optional<Lease> next = other.lease(name("job")).tryAcquire();
            assertThat(next).as("free after way %d", way).isPresent();
            next.orElseThrow().close();
        }
    }

    @Test
    void a_loss_never_hides_what_the_body_threw() {
        Checked thrown = new Checked();

        assertThatThrownBy(() -> locks.lease(name("job")).run(Wait.none(), () -> {
                    LockData held = locks.admin().find(lockName("job")).orElseThrow();
                    locks.admin().forceRelease(held.name(), held.fence(), "operator", "it hangs");
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(thrown.getSuppressed())
                .singleElement()
                .isInstanceOf(NoLockException.class)
                .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                .hasMessageContaining("it hangs");
    }

    @Test
    void a_body_that_lost_its_lock_does_not_end_as_if_nothing_was() {
        assertThatThrownBy(() -> locks.lease(name("job")).run(Wait.none(), () -> {
                    LockData held = locks.admin().find(lockName("job")).orElseThrow();
                    locks.admin().forceRelease(held.name(), held.fence(), "operator", "it hangs");
                }))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("it hangs");
    }

    @Test
    void a_release_that_fails_reaches_no_caller_and_goes_on_until_it_is_done() throws Exception {
        Checked thrown = new Checked();

        assertThatThrownBy(() -> node.lease(name("job")).run(Wait.none(), () -> {
                    down();
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(count(Kind.RELEASE_FAILED)).isEqualTo(1);
        assertThat(other.lease(name("job")).tryAcquire()).isEmpty();

        up();
        other.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(20))).close();
    }

    @Test
    void a_lease_may_stay_taken_for_a_while_after_it_was_closed() throws Exception {
        // long enough to be refused before it is over, even on a machine that stands still
        Duration until = Duration.ofSeconds(5);
        long before = System.nanoTime();
        Lease lease = locks.lease(name("job")).notFreeBefore(until).acquire(Wait.none());
        lease.close();

        assertThat(other.lease(name("job")).tryAcquire()).isEmpty();
        assertThat(lease.isHeld()).isFalse();
        assertThatThrownBy(lease::renew).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> lease.ensure(Duration.ofMillis(1))).isInstanceOf(NoLockException.class);
        Connection mine = transaction();
        assertThatThrownBy(() -> lease.guard(mine)).isInstanceOf(NoLockException.class);

        Lease next = other.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(20)));
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(until.minusMillis(20));
        assertThat(next.fence()).isGreaterThan(lease.fence());
    }

    @Test
    void a_lease_that_was_held_long_enough_is_free_when_it_is_closed() throws Exception {
        Lease lease =
                locks.lease(name("job")).notFreeBefore(Duration.ofMillis(30)).acquire(Wait.none());
        Thread.sleep(60);
        lease.close();

        assertThat(other.lease(name("job")).tryAcquire()).isPresent();
    }

    @Test
    void a_lease_that_stays_taken_is_not_handed_to_a_waiter_of_the_same_node_either() throws Exception {
        Duration until = Duration.ofMillis(800);
        long before = System.nanoTime();
        Lease lease = locks.lease(name("job")).notFreeBefore(until).acquire(Wait.none());
        var waiter = crew.start(() -> locks.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        lease.close();

        waiter.result().close();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(until.minusMillis(20));
    }

    @Test
    void a_closed_instance_gives_back_all_its_leases_in_one_statement() throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            leases.add(node.lease(name("job" + i)).acquire(Wait.none()));
        }
        seen.reset();

        node.close();

        assertThat(seen.statements()).hasSize(1);
        assertThat(leases).allSatisfy(lease -> assertThat(lease.isHeld()).isFalse());
        for (int i = 0; i < 50; i++) {
            assertThat(other.lease(name("job" + i)).tryAcquire()).isPresent();
        }
        node.close();
        leases.forEach(Lease::close);
        assertThat(seen.statements()).hasSize(1);
    }

    @Test
    void a_closed_instance_fails_those_who_wait_and_refuses_the_rest() throws Exception {
        other.lease(name("job")).acquire(Wait.none());
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        waiter.untilItWaits();
        var async = node.lease(name("job")).acquireAsync(Wait.forever()).toCompletableFuture();

        node.close();

        assertThatThrownBy(waiter::result).isInstanceOf(LockException.class).hasMessageContaining("closed");
        assertThatThrownBy(() -> Crew.result(async)).hasCauseInstanceOf(LockException.class);
        assertThatThrownBy(() -> node.lease(name("free")).tryAcquire())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> node.lease(name("free")).acquire(Wait.forever()))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.lease(name("free")).acquireAsync(Wait.forever()))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_grant_that_arrives_while_the_instance_closes_is_given_back() throws Exception {
        Gate gate = closing(new Gate());
        seen.afterStatement(sql -> gate.pass());
        var waiter = crew.start(() -> node.lease(name("job")).acquire(Wait.forever()));
        gate.untilReached();
        up();
        var closing = crew.start(() -> {
            node.close();
            return true;
        });
        assertThatThrownBy(waiter::result).isInstanceOf(LockException.class);
        gate.open();
        closing.result();

        other.lease(name("job")).acquire(Wait.upTo(Duration.ofSeconds(10))).close();
    }
}
