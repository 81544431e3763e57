// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.spi.LockEvent.Kind;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Several locks together: all or none, in an order of the library's. */
class GroupTest extends OnH2 {

    private static final LockName A = LockName.of("a");
    private static final LockName B = LockName.of("b");
    private static final LockName C = LockName.of("c");

    @Test
    void all_are_taken_or_none() {
        other.lease("b").acquire(Wait.none());

        assertThat(node.leaseAll("a", "b", "c").tryAcquire()).isEmpty();

        assertThat(other.lease("a").tryAcquire()).isPresent();
        assertThat(other.lease("c").tryAcquire()).isPresent();
    }

    @Test
    void refusal_says_which_of_them_is_taken_and_by_whom() throws Exception {
        other.lease("b").owner("kim").acquire(Wait.none());
        LeaseLock group = node.leaseAll("a", "b", "c");

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> group.acquire(Wait.none()),
                () -> group.acquireAsync(Wait.none()).toCompletableFuture().join())) {
            assertThat(catchThrowable(call))
                    .extracting(e -> e instanceof CompletionException ? e.getCause() : e)
                    .isInstanceOfSatisfying(AlreadyLockedException.class, e -> {
                        assertThat(e.name()).contains(B);
                        assertThat(e.holder())
                                .hasValueSatisfying(
                                        holder -> assertThat(holder.owner()).isEqualTo("kim"));
                        assertThat(e).hasMessageContaining("b is held by kim");
                    });
        }
    }

    @Test
    void names_are_in_order_and_once_each() {
        Lease group = node.leaseAll("c", "a", "b", "a").acquire(Wait.none());

        assertThat(group.names()).containsExactly(A, B, C);
        assertThat(group.name()).isEqualTo(A);
        group.close();
        assertThat(other.leaseAll("a", "b", "c").tryAcquire()).isPresent();
    }

    @Test
    void all_have_one_fence_that_is_larger_than_every_earlier_one_of_each() throws Exception {
        node.leaseAll("a", "b").acquire(Wait.none()).close();
        set("fence = fence + 3600000000", B);
        long before = Long.parseLong(column("fence", B));

        Lease group = node.leaseAll("a", "b").acquire(Wait.none());

        assertThat(group.fence()).isGreaterThan(before);
        assertThat(column("fence", A)).isEqualTo(String.valueOf(group.fence()));
        assertThat(column("fence", B)).isEqualTo(String.valueOf(group.fence()));
        assertThat(column("lock_id", A)).isEqualTo(column("lock_id", B));
    }

    @Test
    void who_waits_for_a_group_gets_it_when_the_last_is_free() throws Exception {
        Lease a = other.lease("a").acquire(Wait.none());
        Lease b = node.lease("b").acquire(Wait.none());
        Job<Lease> group = start(() -> node.leaseAll("a", "b").acquire(PATIENT)).untilItWaits();
        a.close();
        b.close();

        assertThat(group.result().names()).containsExactly(A, B);
    }

    @Test
    void groups_that_overlap_crosswise_never_deadlock_nor_meet() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger met = new AtomicInteger();
        List<Job<Boolean>> jobs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Locks each = i % 2 == 0 ? node : other;
            String[] names = i < 2 ? new String[] {"a", "b"} : new String[] {"b", "a"};
            jobs.add(start(() -> {
                for (int round = 0; round < 3; round++) {
                    each.leaseAll(names).run(PATIENT, () -> {
                        met.addAndGet(inside.getAndIncrement());
                        inside.decrementAndGet();
                    });
                }
                return true;
            }));
        }
        for (Job<Boolean> job : jobs) {
            assertThat(job.result()).isTrue();
        }

        assertThat(met).hasValue(0);
    }

    @Test
    void loss_of_one_is_the_loss_of_all() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        expire(B);
        other.lease("b").acquire(Wait.none());

        assertThatThrownBy(group::renew).isInstanceOf(NoLockException.class);

        assertThat(group.isHeld()).isFalse();
        eventually("the others are free", () -> other.lease("a").tryAcquire().isPresent());
        assertThat(events)
                .filteredOn(event -> event.kind() == Kind.LOST)
                .extracting(event -> event.name().id())
                .containsExactly("a", "b");
    }

    /** By the first renewal: which of the rows comes first does not matter. */
    @Test
    void loss_of_one_is_told_although_the_row_of_another_is_locked() throws Exception {
        for (LockName locked : List.of(A, B)) {
            LockName gone = locked.equals(A) ? B : A;
            Lease group = node.leaseAll("a", "b").acquire(PATIENT);
            expire(gone);
            Lease taken = other.lease(gone).acquire(Wait.none());
            Connection transaction = locked(locked);

            assertThatThrownBy(group::renew).isInstanceOf(NoLockException.class).hasMessageContaining("taken by other");

            transaction.rollback();
            taken.close();
        }
    }

    @Test
    void group_of_which_one_lock_was_forced_away_says_so_when_it_is_closed() {
        for (LockName forced : List.of(A, B)) {
            Lease group = node.leaseAll("a", "b").acquire(Wait.none());
            assertThat(other.admin().forceRelease(forced, group.fence(), "ops", "it hangs"))
                    .isTrue();

            assertThatThrownBy(group::close)
                    .isInstanceOfSatisfying(
                            NoLockException.class,
                            e -> assertThat(e.takenAwayBy()).contains("ops: it hangs"))
                    .hasMessageContaining("it was taken away by ops: it hangs");

            assertThat(other.leaseAll("a", "b").acquire(PATIENT)).satisfies(Lease::close);
        }
    }

    @Test
    void group_of_which_one_lock_was_forced_away_says_so_although_another_is_locked() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        other.admin().forceRelease(A, group.fence(), "ops", "it hangs");
        Connection transaction = locked(B);

        assertThatThrownBy(group::close).isInstanceOf(NoLockException.class).hasMessageContaining("ops: it hangs");

        transaction.rollback();
        assertThat(other.lease("b").acquire(PATIENT)).satisfies(Lease::close);
    }

    @Test
    void busy_group_stands_back_for_another_process_that_wants_a_part_of_it() throws Exception {
        LeaseLock group = node.leaseAll("a", "b");
        Lease lease = group.acquire(PATIENT);
        set("wanted = 7", B);
        lease.close();
        lease = group.acquire(PATIENT);
        long acquired = System.nanoTime();
        eventually("held for more than a moment", () -> System.nanoTime() - acquired > 60_000_000);
        long freed = System.nanoTime();
        lease.close();

        group.acquire(PATIENT).close();

        assertThat(Duration.ofNanos(System.nanoTime() - freed))
                .as("longer than another's poll")
                .isGreaterThan(Duration.ofMillis(62));
        assertThat(column("wanted", B))
                .as("one who does not mark it again has left")
                .isEqualTo("0");
    }

    @Test
    void mark_that_a_group_has_turned_negative_is_not_anothers_for_whom_it_is_of() throws Exception {
        Lease held = other.lease("b").acquire(Wait.none());
        Job<Lease> marks = start(() -> node.lease("b").acquire(PATIENT)).untilItWaits();
        eventually("marked", () -> !column("wanted", B).equals("0"));
        String mark = column("wanted", B);
        held.close();
        marks.result().close();

        for (int i = 0; i < 2; i++) {
            set("wanted = -" + mark, B);
            Lease mine = node.lease("b").acquire(PATIENT);
            assertThat(column("wanted", B)).as("taken for the %d. time", i + 1).isEqualTo("0");
            mine.close();
            // from now on it knows nothing of the lock
            Lease others = other.lease("b").acquire(PATIENT);
            assertThat(node.lease("b").tryAcquire()).isEmpty();
            others.close();
        }
    }

    @Test
    void each_is_told_by_itself_and_taken_over_where_it_had_expired() throws Exception {
        other.lease("a").acquire(Wait.none());
        expire(A);

        node.leaseAll("a", "b").acquire(Wait.none()).close();

        assertThat(events)
                .extracting(event -> event.kind(), event -> event.name().id())
                .containsExactlyInAnyOrder(
                        Assertions.tuple(Kind.TAKEN_OVER, "a"),
                        Assertions.tuple(Kind.ACQUIRED, "b"),
                        Assertions.tuple(Kind.RELEASED, "a"),
                        Assertions.tuple(Kind.RELEASED, "b"));
    }

    @Test
    void locked_row_puts_the_release_of_that_one_off_and_frees_the_others() throws Exception {
        Lease group = node.leaseAll("a", "b").acquire(Wait.none());
        Connection blocker = locked(B);

        group.close();

        assertThat(other.lease("a").tryAcquire()).isPresent();
        assertThat(other.lease("b").tryAcquire()).isEmpty();
        blocker.rollback();
        assertThat(other.lease("b").acquire(PATIENT).isHeld()).isTrue();
    }

    @Test
    void group_whose_answer_was_lost_has_one_fence_that_is_larger_than_every_earlier_one() throws Exception {
        node.leaseAll("a", "b").acquire(Wait.none()).close();
        LockName b = LockName.of("b");
        set("fence = fence + 3600000000", b);
        long former = Long.parseLong(column("fence", b));
        loseNextAnswer();

        Lease lease = node.leaseAll("a", "b").acquire(Wait.none());

        assertThat(lease.fence()).isGreaterThan(former);
        assertThat(column("fence", LockName.of("a"))).isEqualTo(String.valueOf(lease.fence()));
        assertThat(column("fence", b)).isEqualTo(String.valueOf(lease.fence()));
    }

    @Test
    void attempt_whose_answer_was_lost_is_found_to_be_granted() {
        node.leaseAll("a", "b").acquire(Wait.none()).close();
        loseNextAnswer();

        Lease group = node.leaseAll("a", "b").tryAcquire().orElseThrow();

        group.renew();
        group.close();
        assertThat(other.leaseAll("a", "b").tryAcquire()).isPresent();
    }
}
