// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.Lease;
import io.bitjang.LeaseLock;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import io.bitjang.Wait;
import io.bitjang.spi.LockEvent.Kind;
import io.bitjang.testkit.CountingDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Several locks together: all or nothing, and never a deadlock. */
public abstract class LeaseAllContract extends OnObservedLocks {

    private List<LockName> abc() {
        return List.of(lockName("a"), lockName("b"), lockName("c"));
    }

    private void makeKnown() {
        abc().forEach(known -> locks.lease(known).acquire(Wait.none()).close());
    }

    private boolean isHeld(LockName name) {
        return other.admin().find(name).map(LockData::held).orElse(false);
    }

    @Test
    void all_are_taken_under_one_fence() {
        Lease group = locks.leaseAll(name("c"), name("a"), name("b"))
                .owner("kim")
                .note("a transfer")
                .acquire(Wait.none());

        assertThat(group.names()).containsExactlyElementsOf(abc());
        assertThat(group.name()).isEqualTo(lockName("a"));
        assertThat(abc())
                .allSatisfy(name -> assertThat(other.admin().find(name)).hasValueSatisfying(data -> {
                    assertThat(data.held()).isTrue();
                    assertThat(data.fence()).isEqualTo(group.fence());
                    assertThat(data.owner()).isEqualTo("kim");
                    assertThat(data.note()).isEqualTo("a transfer");
                }));
    }

    @Test
    void a_single_lease_of_a_member_is_refused_meanwhile() {
        locks.leaseAll(abc()).acquire(Wait.none());

        assertThat(abc()).allSatisfy(name -> {
            assertThat(other.lease(name).tryAcquire()).isEmpty();
            assertThat(locks.lease(name).tryAcquire()).isEmpty();
        });
        assertThat(other.leaseAll(name("c"), name("d")).tryAcquire()).isEmpty();
    }

    @Test
    void one_that_is_held_leaves_all_others_untouched() {
        makeKnown();
        Lease b = other.lease(lockName("b")).acquire(Wait.none());
        long fenceOfA = other.admin().find(lockName("a")).orElseThrow().fence();

        assertThat(locks.leaseAll(abc()).tryAcquire()).isEmpty();
        assertThatThrownBy(() -> locks.leaseAll(abc()).acquire(Wait.none())).isInstanceOf(AlreadyLockedException.class);

        assertThat(other.admin().find(lockName("a")).orElseThrow().fence()).isEqualTo(fenceOfA);
        assertThat(isHeld(lockName("a"))).isFalse();
        assertThat(isHeld(lockName("c"))).isFalse();
        assertThat(other.lease(lockName("a")).tryAcquire())
                .as("no row is left locked")
                .isPresent();
        assertThat(other.lease(lockName("c")).tryAcquire())
                .as("no row is left locked")
                .isPresent();
        b.renew();
    }

    @Test
    void one_that_is_held_leaves_those_that_were_never_taken_free() {
        other.lease(lockName("b")).acquire(Wait.none());

        assertThat(locks.leaseAll(abc()).tryAcquire()).isEmpty();

        assertThat(other.lease(lockName("a")).tryAcquire()).isPresent();
        assertThat(other.lease(lockName("c")).tryAcquire()).isPresent();
    }

    @Test
    void the_fence_is_larger_than_every_earlier_one_of_each_name() {
        makeKnown();
        long ahead = other.admin().find(lockName("b")).orElseThrow().fence() + 1_000_000_000_000_000L;
        database.execute("UPDATE bitjang_locks SET fence = " + ahead + " WHERE id = '" + name("b") + "'");

        Lease group = locks.leaseAll(abc()).acquire(Wait.none());

        assertThat(group.fence()).isGreaterThan(ahead);
        assertThat(abc())
                .allSatisfy(name -> assertThat(other.admin().find(name).map(LockData::fence))
                        .contains(group.fence()));
        group.close();
        abc().forEach(name ->
                assertThat(other.lease(name).acquire(Wait.none()).fence()).isGreaterThan(group.fence()));
    }

    @Test
    void the_fence_is_larger_than_every_earlier_one_even_if_the_answer_was_lost() {
        makeKnown();
        long ahead = other.admin().find(lockName("b")).orElseThrow().fence() + 1_000_000_000_000_000L;
        database.execute("UPDATE bitjang_locks SET fence = " + ahead + " WHERE id = '" + name("b") + "'");
        CountingDataSource seen = new CountingDataSource(pool);
        Locks node = closing(Locks.create(seen));
        seen.afterStatement(sql -> {
            seen.clearHooks();
            throw new SQLException("The answer is lost", "08006");
        });

        Lease group = node.leaseAll(abc()).acquire(Wait.none());

        assertThat(group.fence()).isGreaterThan(ahead);
        assertThat(abc())
                .allSatisfy(name -> assertThat(other.admin().find(name).map(LockData::fence))
                        .contains(group.fence()));
    }

    @Test
    void a_name_given_twice_counts_once() {
        Lease group = locks.leaseAll(name("a"), name("b"), name("a"), name("a")).acquire(Wait.none());

        assertThat(group.names()).containsExactly(lockName("a"), lockName("b"));
        group.close();
        assertThat(other.leaseAll(name("b"), name("a")).tryAcquire()).isPresent();
    }

    @Test
    void a_group_of_one_is_a_lease() {
        Lease one = locks.leaseAll(name("a")).acquire(Wait.none());

        assertThat(one.names()).containsExactly(lockName("a"));
        assertThat(other.lease(name("a")).tryAcquire()).isEmpty();
        one.close();
        assertThat(other.lease(name("a")).tryAcquire()).isPresent();
    }

    @Test
    void known_and_unknown_names_are_taken_together() {
        locks.lease(lockName("b")).acquire(Wait.none()).close();

        Lease group = locks.leaseAll(abc()).acquire(Wait.none());

        assertThat(abc()).allMatch(this::isHeld);
        group.close();
        assertThat(abc()).noneMatch(this::isHeld);
        Lease again = other.leaseAll(abc()).acquire(Wait.none());
        assertThat(again.fence()).isGreaterThan(group.fence());
    }

    @Test
    void expired_members_are_taken_over() throws Exception {
        Lease lapsed = node.lease(lockName("b")).lasting(SHORT).acquire(Wait.none());
        letExpire(lapsed);

        Lease group = locks.leaseAll(abc()).tryAcquire().orElseThrow();

        assertThat(group.fence()).isGreaterThan(lapsed.fence());
        assertThat(abc()).allMatch(this::isHeld);
    }

    @Test
    void an_expired_group_is_taken_over_name_by_name() throws Exception {
        Lease lapsed = node.leaseAll(abc()).lasting(SHORT).acquire(Wait.none());
        letExpire(lapsed);

        for (LockName name : abc()) {
            assertThat(other.lease(name).tryAcquire()).isPresent();
        }
        up();
        assertThatThrownBy(lapsed::renew).isInstanceOf(NoLockException.class);
    }

    @Test
    void a_released_group_frees_all_its_locks() {
        Lease group = locks.leaseAll(abc()).acquire(Wait.none());
        group.close();
        group.close();

        assertThat(group.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(abc())
                .allSatisfy(name -> assertThat(other.lease(name).tryAcquire()).isPresent());
    }

    @Test
    void a_group_is_renewed_as_a_whole() throws Exception {
        Lease group = node.leaseAll(abc()).lasting(LIVELY).acquire(Wait.none());

        renewedPastItsTime(() -> count(Kind.RENEWED) >= (long) ROUNDS * abc().size(), group);

        assertThat(group.state()).isEqualTo(Lease.State.HELD);
        assertThat(abc())
                .allSatisfy(name -> assertThat(other.lease(name).tryAcquire()).isEmpty());
        group.renew();
        assertThat(count(Kind.LOST)).isZero();
    }

    @Test
    void a_group_that_loses_one_lock_is_lost() throws Exception {
        Lease group = node.leaseAll(abc()).lasting(LIVELY).acquire(Wait.none());

        assertThat(other.admin().forceRelease(lockName("b"), group.fence(), "operator", "it hangs"))
                .isTrue();

        untilTold(Kind.LOST);
        assertThat(group.isHeld()).isFalse();
        assertThat(group.lostBecause())
                .hasValueSatisfying(why -> assertThat(why).contains("it hangs"));
    }

    @Test
    void the_guard_of_a_group_covers_each_of_its_locks() throws Exception {
        Lease group = node.leaseAll(abc()).lasting(Duration.ofMinutes(1)).acquire(Wait.none());
        past(group);
        Connection mine = transaction();
        group.guard(mine);

        assertThat(abc())
                .allSatisfy(name ->
                        assertThat(other.lease(name).tryAcquire()).as("pinned").isEmpty());
        assertThat(other.leaseAll(abc()).tryAcquire()).as("pinned").isEmpty();

        mine.commit();
        assertThat(abc())
                .allSatisfy(name -> assertThat(other.lease(name).tryAcquire())
                        .as("not pinned")
                        .isPresent());
    }

    @Test
    void the_guard_of_a_group_refuses_when_one_of_its_locks_was_lost() throws Exception {
        Lease group = node.leaseAll(abc()).acquire(Wait.none());
        other.admin().forceRelease(lockName("c"), group.fence(), "operator", "it hangs");
        Connection mine = transaction();

        assertThatThrownBy(() -> group.guard(mine)).isInstanceOf(NoLockException.class);
        assertThat(group.state()).isEqualTo(Lease.State.LOST);
    }

    @Test
    void who_waits_for_a_group_gets_it_when_the_last_lock_is_free() throws Exception {
        Lease a = other.lease(lockName("a")).acquire(Wait.none());
        Lease c = locks.lease(lockName("c")).acquire(Wait.none());
        var waiter = crew.start(() -> locks.leaseAll(abc()).acquire(Wait.forever()));
        waiter.untilItWaits();

        c.close();
        assertThat(isHeld(lockName("b"))).as("nothing is kept while waiting").isFalse();
        assertThat(waiter.isDone()).isFalse();
        a.close();

        Lease group = waiter.result();
        assertThat(group.fence()).isGreaterThan(a.fence()).isGreaterThan(c.fence());
        assertThat(abc()).allMatch(this::isHeld);
    }

    @Test
    void who_waits_for_a_member_gets_it_when_the_group_is_released() throws Exception {
        Lease group = locks.leaseAll(abc()).acquire(Wait.none());
        var here = crew.start(() -> locks.lease(lockName("a")).acquire(Wait.forever()));
        var there = crew.start(() -> other.lease(lockName("b")).acquire(Wait.forever()));
        var groupHere = crew.start(() -> locks.leaseAll(name("c"), name("d")).acquire(Wait.forever()));
        here.untilItWaits();
        there.untilItWaits();
        groupHere.untilItWaits();

        group.close();

        assertThat(List.of(here.result(), there.result(), groupHere.result()))
                .allSatisfy(next -> assertThat(next.fence()).isGreaterThan(group.fence()));
    }

    @Test
    void who_waits_for_a_group_in_vain_keeps_nothing() {
        other.lease(lockName("b")).owner("kim").acquire(Wait.none());

        assertThatThrownBy(() -> locks.leaseAll(abc()).acquire(Wait.upTo(IN_VAIN)))
                .isInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("kim");

        assertThat(isHeld(lockName("a"))).isFalse();
        assertThat(isHeld(lockName("c"))).isFalse();
    }

    @Test
    void overlapping_groups_never_overlap_and_never_deadlock() throws Exception {
        int names = 6;
        int rounds = 12;
        AtomicLongArray holders = new AtomicLongArray(names);
        long[] fences = new long[names];
        List<Crew.Job<Integer>> jobs = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            Locks mine = thread % 2 == 0 ? locks : other;
            Random random = new Random(thread);
            jobs.add(crew.start(() -> {
                for (int round = 0; round < rounds; round++) {
                    List<Integer> chosen = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5));
                    Collections.shuffle(chosen, random);
                    List<Integer> group = chosen.subList(0, 2 + random.nextInt(3));
                    List<LockName> locked =
                            group.stream().map(i -> lockName("n" + i)).toList();
                    try (Lease lease = mine.leaseAll(locked).acquire(Wait.upTo(Crew.PATIENCE))) {
                        for (int i : group) {
                            assertThat(holders.incrementAndGet(i))
                                    .as("holders of %d", i)
                                    .isEqualTo(1);
                            assertThat(lease.fence()).isGreaterThan(fences[i]);
                            fences[i] = lease.fence();
                        }
                        group.forEach(holders::decrementAndGet);
                    }
                }
                return rounds;
            }));
        }
        for (Crew.Job<Integer> job : jobs) {
            assertThat(job.result()).isEqualTo(rounds);
        }
    }

    @Test
    void as_many_as_are_allowed_are_taken_and_freed_together() {
        List<LockName> most =
                IntStream.range(0, 500).mapToObj(i -> lockName("most" + i)).toList();
        try (Lease lease = locks.leaseAll(most).acquire(Wait.none())) {
            assertThat(lease.names()).hasSize(500);
            assertThat(other.lease(most.get(499)).tryAcquire()).isEmpty();
        }
        other.leaseAll(most).acquire(Wait.none()).close();
    }

    @Test
    void a_busy_group_stands_back_for_another_process_that_wants_a_part_of_it() throws Exception {
        LockName wanted = lockName("b");
        LeaseLock group = locks.leaseAll(List.of(lockName("a"), wanted));
        Lease lease = group.acquire(Wait.upTo(Crew.PATIENCE));
        database.execute("UPDATE bitjang_locks SET wanted = 7 WHERE id = '" + wanted.id() + "'");
        lease.close();
        lease = group.acquire(Wait.upTo(Crew.PATIENCE));
        long acquired = System.nanoTime();
        Crew.eventually("held for more than a moment", () -> System.nanoTime() - acquired > 60_000_000);
        long freed = System.nanoTime();
        lease.close();

        group.acquire(Wait.upTo(Crew.PATIENCE)).close();

        assertThat(Duration.ofNanos(System.nanoTime() - freed))
                .as("longer than another's poll")
                .isGreaterThan(Duration.ofMillis(62));
        assertThat(locks.admin().find(wanted).orElseThrow().wanted())
                .as("one who does not mark it again has left")
                .isFalse();
    }
}
