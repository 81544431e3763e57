// SPDX-License-Identifier: Apache-2.0
package io.bitjang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import io.bitjang.spi.LockEvent;
import io.bitjang.spi.LockEvent.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The database is the only clock, and every grant has its own identity and number. */
class GrantTest extends OnH2 {

    private static final LockName ORDER = LockName.of("order", "42");
    private static final LockName JOB = LockName.of("job");

    private LockId kim() {
        return node.manager().tryLock("order", "42", "kim", LONG);
    }

    @Test
    void held_lock_is_refused_and_says_who_has_it() {
        kim();

        assertThatThrownBy(() -> other.manager().tryLock("order", "42", "lee"))
                .isInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("kim");
        assertThat(other.lease(ORDER).tryAcquire()).isEmpty();
        assertThatThrownBy(() -> node.lease(ORDER).acquire(Wait.none())).isInstanceOf(AlreadyLockedException.class);
    }

    @Test
    void attempt_without_a_thread_says_who_has_it() {
        kim();

        assertThatThrownBy(() -> other.lease(ORDER)
                        .acquireAsync(Wait.none())
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(AlreadyLockedException.class)
                .hasMessageContaining("kim");
    }

    @Test
    void refusal_stays_one_although_it_can_not_be_read_who_has_the_lock() throws Exception {
        kim();
        // guarded, as far as the attempt can see, which tells nothing more
        expire(ORDER);
        locked(ORDER);
        seen.before(sql -> {
            if (!sql.matches("(?s).*(MERGE|UPDATE|INSERT).*")) {
                throw new SQLException("The network is away", "08006");
            }
        });

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> node.lease(ORDER).acquire(Wait.none()),
                () -> node.manager().tryLock("order", "42", "lee"),
                () -> node.lease(ORDER)
                        .acquireAsync(Wait.none())
                        .toCompletableFuture()
                        .join())) {
            assertThat(catchThrowable(call))
                    .extracting(e -> e instanceof CompletionException ? e.getCause() : e)
                    .isInstanceOfSatisfying(
                            AlreadyLockedException.class,
                            e -> assertThat(e.holder()).isEmpty());
        }
    }

    @Test
    void expired_lock_is_taken_by_the_next_owner() throws Exception {
        LockId first = other.manager().tryLock("order", "42", "kim", LONG);
        expire(ORDER);

        LockId second = node.manager().tryLock("order", "42", "lee", LONG);

        assertThat(second.fence()).isGreaterThan(first.fence());
        assertThat(told()).containsExactly(Kind.TAKEN_OVER);
        assertThat(column("taken_from", ORDER)).isEqualTo("kim");
    }

    @Test
    void expiry_is_the_databases_time_plus_the_duration_to_the_microsecond() throws Exception {
        Duration odd = Duration.ofNanos(61_234_567_000L);
        LockId id = node.manager().tryLock("order", "42", "kim", odd);

        assertThat(column("expires_at - acquired_at", ORDER)).isEqualTo("61234567");
        LockData data = node.manager().checkLock(id);
        assertThat(data.acquiredAt())
                .as("in UTC, wherever the session is")
                .isBetween(Instant.now().minusSeconds(600), Instant.now().plusSeconds(600));
        assertThat(data.remaining()).isLessThanOrEqualTo(odd).isGreaterThan(odd.dividedBy(2));
    }

    @Test
    void no_statement_is_told_what_time_it_is() throws Exception {
        LockId id = kim();
        node.manager().renew(id, LONG);
        node.manager().extendLockExpiration(id, LONG);
        node.manager().leave(id, LONG);
        node.manager().checkLock(id);
        node.manager().releaseLock(id);
        kim();
        expire(ORDER);
        kim();
        try (Lease lease = node.lease("job").notFreeBefore(LONG).acquire(PATIENT)) {
            lease.renew();
        }
        try (Lease group = node.leaseAll("a", "b").acquire(PATIENT)) {
            group.renew();
        }
        node.distLock().tryLock("batch", "kim", LONG);
        node.distLock().tryLock("batch", "kim", LONG);
        node.admin().counts();
        node.admin().sweep(Duration.ofHours(1));

        // neither as a text nor as a number of milliseconds or less
        assertThat(seen.parameters())
                .hasSizeGreaterThan(50)
                .allSatisfy(bound -> assertThat(bound).doesNotContainPattern("\\d{4}-\\d\\d-\\d\\d|\\d{13}"));
    }

    @Test
    void lease_and_its_renewal_count_from_before_the_request_was_sent() {
        Duration way = Duration.ofMillis(150);
        seen.after(sql -> {
            long arrived = System.nanoTime();
            while (System.nanoTime() - arrived < way.toNanos()) {
                Thread.onSpinWait();
            }
        });

        Lease lease = node.lease("job").acquire(Wait.none());
        assertThat(lease.remaining()).isLessThanOrEqualTo(LONG.minus(way));
        lease.renew();
        assertThat(lease.remaining()).isLessThanOrEqualTo(LONG.minus(way));
        Lease waited = node.lease("other job").acquire(PATIENT);
        assertThat(waited.remaining()).isLessThanOrEqualTo(LONG.minus(way));
    }

    @Test
    void slow_holder_can_not_touch_its_successors_lock_though_the_owner_is_the_same() throws Exception {
        LockId former = kim();
        expire(ORDER);
        LockId present = kim();
        String before = column("lock_id || ' ' || expires_at || ' ' || fence", ORDER);

        LockManager manager = other.manager();
        assertThatThrownBy(() -> manager.checkLock(former)).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> manager.releaseLock(former)).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> manager.renew(former, LONG.plus(LONG))).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> manager.extendLockExpiration(former, LONG)).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> manager.leave(former, Duration.ofMillis(1))).isInstanceOf(NoLockException.class);

        assertThat(column("lock_id || ' ' || expires_at || ' ' || fence", ORDER))
                .isEqualTo(before);
        assertThat(manager.checkLock(present).fence()).isEqualTo(present.fence());
    }

    @Test
    void every_grant_has_an_id_of_its_own_and_a_larger_fence_whatever_kind_it_is() throws Exception {
        List<Long> fences = new ArrayList<>();
        List<String> ids = new ArrayList<>();
        node.lease(JOB).acquire(Wait.none()).close();
        // the clock is behind: it is no help
        set("fence = fence + 3600000000", JOB);
        fences.add(Long.valueOf(column("fence", JOB)));
        List<Locks.Call<Lease, Exception>> ways = List.of(
                () -> node.lease(JOB).acquire(Wait.none()),
                () -> node.lease(JOB).acquire(PATIENT),
                () -> node.leaseAll("job", "more").acquire(Wait.none()),
                () -> other.lease(JOB).acquire(Wait.none()));
        for (Locks.Call<Lease, Exception> way : ways) {
            Lease lease = way.call();
            fences.add(lease.fence());
            ids.add(column("lock_id", JOB));
            lease.close();
        }
        Lease handing = node.lease(JOB).acquire(Wait.none());
        fences.add(handing.fence());
        Job<Lease> next = start(() -> node.lease(JOB).acquire(PATIENT)).untilItWaits();
        handing.close();
        fences.add(next.result().fence());
        ids.add(column("lock_id", JOB));
        expire(JOB);
        fences.add(other.manager().tryLock(JOB.type(), JOB.id(), "lee", LONG).fence());
        ids.add(column("lock_id", JOB));
        LockData seenNow = node.admin().find(JOB).orElseThrow();
        fences.add(node.manager()
                .takeOver(seenNow, "park", LONG, null, "why")
                .orElseThrow()
                .fence());
        ids.add(column("lock_id", JOB));

        assertThat(fences).doesNotHaveDuplicates().isSorted();
        assertThat(ids).doesNotHaveDuplicates().hasSize(7);
    }

    @Test
    void fences_that_were_set_aside_are_never_granted_to_anyone_else() throws Exception {
        for (String way : List.of("take", "upsert", "group")) {
            Lease lease = other.lease(way).acquire(Wait.none());
            if (way.equals("take")) {
                node.lease(lease.name()).tryAcquire();
            }
            set("fence = fence + 3600000000, reserved = 500, expires_at = acquired_at", lease.name());
            long last = Long.parseLong(column("fence + reserved", lease.name()));

            Lease next = way.equals("group")
                    ? node.leaseAll(way, way + "2").acquire(Wait.none())
                    : node.lease(way).acquire(Wait.none());

            assertThat(next.fence()).as(way).isGreaterThan(last);
        }
    }

    @Test
    void fence_grows_over_a_sweep_of_its_row() throws Exception {
        Lease lease = node.lease(JOB).acquire(Wait.none());
        lease.close();
        set("expires_at = expires_at - 7200000000", JOB);

        assertThat(node.admin().sweep(Duration.ofHours(1))).isEqualTo(1);
        assertThat(node.admin().find(JOB)).isEmpty();
        assertThat(node.lease(JOB).acquire(Wait.none()).fence()).isGreaterThan(lease.fence());
        assertThat(told()).contains(Kind.SWEPT);
    }

    @Test
    void expired_lock_can_be_freed_but_neither_checked_nor_renewed() throws Exception {
        LockId id = kim();
        expire(ORDER);

        assertThatThrownBy(() -> node.manager().checkLock(id)).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> node.manager().renew(id, LONG)).isInstanceOf(NoLockException.class);
        assertThatThrownBy(() -> node.manager().extendLockExpiration(id, LONG)).isInstanceOf(NoLockException.class);
        node.manager().releaseLock(id);
        assertThat(column("lock_id", ORDER)).isNull();
    }

    @Test
    void expiry_is_renewed_extended_and_cut_as_asked() {
        LockId id = kim();
        Instant begun = node.manager().checkLock(id).expiresAt();

        assertThat(node.manager().renew(id, Duration.ofMillis(1)))
                .as("never shorter")
                .isEqualTo(begun);
        assertThat(node.manager().extendLockExpiration(id, LONG)).isEqualTo(begun.plus(LONG));
        assertThat(node.manager().leave(id, Duration.ofHours(1)))
                .as("never longer")
                .isEqualTo(begun.plus(LONG));
        assertThat(node.manager().leave(id, Duration.ofSeconds(30))).isBefore(begun.plus(LONG));
    }

    @Test
    void of_many_who_try_at_the_same_moment_exactly_one_gets_it() throws Exception {
        for (int round = 0; round < 5; round++) {
            String name = "round" + round;
            CountDownLatch go = new CountDownLatch(1);
            List<Job<Optional<Lease>>> jobs = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Locks each = i % 2 == 0 ? node : other;
                jobs.add(start(() -> {
                    go.await(10, TimeUnit.SECONDS);
                    return each.lease(name).tryAcquire();
                }));
            }
            go.countDown();
            int granted = 0;
            for (Job<Optional<Lease>> job : jobs) {
                granted += job.result().isPresent() ? 1 : 0;
            }
            assertThat(granted).as(name).isEqualTo(1);
        }
    }

    @Test
    void operator_takes_away_only_the_grant_that_was_seen() {
        LockId id = kim();

        assertThat(other.admin().forceRelease(ORDER, id.fence() - 1, "ops", "why"))
                .isFalse();
        assertThat(other.admin().forceRelease(ORDER, id.fence(), "ops", "it hangs"))
                .isTrue();
        assertThat(other.admin().forceRelease(ORDER, id.fence(), "ops", "again"))
                .isFalse();
        assertThatThrownBy(() -> node.manager().checkLock(id))
                .isInstanceOf(NoLockException.class)
                .hasMessageContaining("it hangs");
    }

    @Test
    void to_take_a_lock_away_is_told_in_the_name_of_the_one_who_had_it() {
        LockId id = kim();

        node.admin().forceRelease(ORDER, id.fence(), "ops", "it hangs");

        assertThat(events)
                .filteredOn(event -> event.kind() == Kind.FORCE_RELEASED)
                .extracting(LockEvent::owner, LockEvent::detail)
                .containsExactly(tuple("kim", "ops: it hangs"));
    }

    @Test
    void whatever_is_done_with_a_lock_that_was_taken_away_says_by_whom() {
        LockId id = kim();
        other.admin().forceRelease(ORDER, id.fence(), "ops", "it hangs");
        LockManager manager = node.manager();

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> manager.checkLock(id),
                () -> manager.releaseLock(id),
                () -> manager.renew(id, LONG),
                () -> manager.leave(id, LONG),
                () -> manager.extendLockExpiration(id, LONG))) {
            assertThatThrownBy(call)
                    .isInstanceOfSatisfying(
                            NoLockException.class,
                            lost -> assertThat(lost.takenAwayBy()).contains("ops: it hangs"));
        }
    }

    @Test
    void take_over_from_a_process_that_has_not_said_which_of_its_threads_has_it_says_so() throws Exception {
        Lease lease = node.lease(ORDER).acquire(Wait.none());
        set("reserved = 1000", ORDER);
        LockData seenNow = other.admin().find(ORDER).orElseThrow();

        assertThatThrownBy(() -> other.manager().takeOver(seenNow, "lee", LONG, null, "urgent"))
                .isInstanceOf(LockingFailException.class)
                .hasMessageContaining("passes from thread to thread")
                .hasMessageContaining("forceRelease")
                .hasMessageNotContaining("guards");
        assertThat(other.admin().forceRelease(ORDER, lease.fence(), "ops", "as it says"))
                .isTrue();
    }

    @Test
    void take_over_is_from_the_grant_that_was_seen_only() {
        kim();
        LockData seenNow = other.admin().find(ORDER).orElseThrow();

        Optional<LockId> lee = other.manager().takeOver(seenNow, "lee", LONG, null, "urgent");
        Optional<LockId> late = other.manager().takeOver(seenNow, "park", LONG, null, "urgent");

        assertThat(lee).isPresent();
        assertThat(late).isEmpty();
        assertThat(node.manager().checkLock(lee.orElseThrow()).owner()).isEqualTo("lee");
    }
}
