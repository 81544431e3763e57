// SPDX-License-Identifier: Apache-2.0
package io.bitjang.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.AlreadyLockedException;
import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.Locks;
import io.bitjang.NoLockException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Offline locks, as an edit screen uses them. */
public abstract class LockManagerContract extends OnLocks {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration MOMENT = Duration.ofMillis(100);

    /** For the databases. */
    protected LockManagerContract() {}

    @Test
    void a_held_lock_is_refused_and_says_who_since_when_and_until_when() {
        locks.manager().tryLock("order", name("42"), "kim", MINUTE, "edits the address");

        assertThatExceptionOfType(AlreadyLockedException.class)
                .isThrownBy(() -> other.manager().tryLock("order", name("42"), "lee"))
                .withMessageContainingAll("kim", "since", "until", "edits the address")
                .satisfies(refusal -> assertThat(refusal.name()).contains(order()))
                .satisfies(refusal -> assertThat(refusal.holder()).hasValueSatisfying(holder -> {
                    assertThat(holder.owner()).isEqualTo("kim");
                    assertThat(holder.note()).isEqualTo("edits the address");
                    assertThat(holder.acquiredAt()).isBefore(holder.expiresAt());
                    assertThat(holder.remaining()).isBetween(Duration.ofSeconds(20), MINUTE);
                }));
    }

    @Test
    void a_refused_attempt_changes_nothing_for_the_holder() {
        LockId held = take("kim", MINUTE);
        LockData before = locks.manager().checkLock(held);

        assertThatThrownBy(() -> take("lee", Duration.ofHours(1))).isInstanceOf(AlreadyLockedException.class);

        LockData after = locks.manager().checkLock(held);
        assertThat(after).usingRecursiveComparison().ignoringFields("remaining").isEqualTo(before);
    }

    @Test
    void the_same_person_is_refused_too_because_the_owner_is_only_a_label() {
        take("kim", MINUTE);

        assertThatThrownBy(() -> take("kim", MINUTE)).isInstanceOf(AlreadyLockedException.class);
    }

    @Test
    void of_many_who_try_at_the_same_moment_exactly_one_gets_it() throws Exception {
        int threads = 8;
        CyclicBarrier start = new CyclicBarrier(threads);
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            for (int round = 0; round < 10; round++) {
                String id = name("round-" + round);
                List<Future<Boolean>> attempts = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    Locks node = i % 2 == 0 ? locks : other;
                    attempts.add(executor.submit(() -> {
                        start.await();
                        try {
                            node.manager().tryLock("order", id);
                            return true;
                        } catch (AlreadyLockedException e) {
                            return false;
                        }
                    }));
                }
                int granted = 0;
                for (Future<Boolean> attempt : attempts) {
                    granted += attempt.get() ? 1 : 0;
                }
                assertThat(granted).isEqualTo(1);
            }
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void a_released_lock_is_taken_again_at_once() {
        LockId first = locks.manager().tryLock("order", name("42"));
        locks.manager().releaseLock(first);

        LockId second = other.manager().tryLock("order", name("42"));

        assertThat(second.fence()).isGreaterThan(first.fence());
    }

    @Test
    void a_lock_lasts_five_minutes_in_the_name_of_the_node_unless_said_otherwise() {
        LockData data = locks.manager().checkLock(locks.manager().tryLock("order", name("42")));

        assertThat(lengthOf(data))
                .isBetween(Duration.ofMinutes(5), Duration.ofMinutes(5).plusSeconds(1));
        assertThat(data.owner()).isEqualTo("one");
        assertThat(data.note()).isNull();
    }

    @Test
    void the_default_duration_is_a_setting() {
        Locks node = closing(builder().offlineDuration(Duration.ofMinutes(2)).build());

        LockData data = node.manager().checkLock(node.manager().tryLock("order", name("42"), "kim"));

        assertThat(lengthOf(data))
                .isBetween(Duration.ofMinutes(2), Duration.ofMinutes(2).plusSeconds(1));
        assertThat(data.owner()).isEqualTo("kim");
    }

    @Test
    void a_check_tells_all_that_is_known_on_any_node() {
        LockId held = locks.manager().tryLock("order", name("42"), "kim", MINUTE, "a note");

        LockData data = other.manager().checkLock(held);

        assertThat(data.name()).isEqualTo(order()).isEqualTo(held.name());
        assertThat(data.held()).isTrue();
        assertThat(data.isExpired()).isFalse();
        assertThat(data.owner()).isEqualTo("kim");
        assertThat(data.note()).isEqualTo("a note");
        assertThat(data.fence()).isEqualTo(held.fence());
        assertThat(data.remaining()).isBetween(Duration.ofSeconds(20), MINUTE);
    }

    @Test
    void no_part_of_a_second_is_lost() {
        Duration odd = Duration.ofMillis(61_234).plusNanos(567_000);

        LockData data = locks.manager().checkLock(take("kim", odd));

        // statement by statement the database's clock may move on by a little
        assertThat(lengthOf(data)).isBetween(odd, odd.plusSeconds(1));
    }

    @Test
    void a_lock_of_a_quarter_of_a_second_ends_then() {
        long before = System.nanoTime();
        take("kim", Duration.ofMillis(250));

        Soon.holds("another takes the lapsed lock", () -> {
            try {
                other.manager().tryLock("order", name("42"), "lee");
                return true;
            } catch (AlreadyLockedException e) {
                assertThat(e.holder())
                        .hasValueSatisfying(
                                holder -> assertThat(holder.remaining()).isLessThanOrEqualTo(Duration.ofMillis(250)));
                return false;
            }
        });
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(Duration.ofMillis(250));
    }

    @Test
    void ten_years_are_not_too_long() {
        Duration years = Duration.ofDays(3652);

        LockId held = take("kim", years);

        assertThat(lengthOf(locks.manager().checkLock(held))).isBetween(years, years.plusSeconds(1));
    }

    @Test
    void a_lapsed_lock_is_not_held_and_says_so() {
        LockId held = lapsed();

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().checkLock(held))
                .withMessageContainingAll(name("42"), "expired")
                .satisfies(refusal -> assertThat(refusal.name()).contains(order()));
    }

    @Test
    void a_released_lock_is_not_held_and_says_so() {
        LockId held = take("kim", MINUTE);
        locks.manager().releaseLock(held);

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> other.manager().checkLock(held))
                .withMessageContainingAll(name("42"), "released");
        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> other.manager().releaseLock(held))
                .withMessageContaining("released");
    }

    @Test
    void a_lock_that_was_taken_over_is_not_held_and_says_who_has_it() {
        LockId late = lapsed();
        other.manager().tryLock("order", name("42"), "lee");

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().checkLock(late))
                .withMessageContainingAll(name("42"), "taken by lee");
    }

    @Test
    void a_lock_that_nobody_ever_took_in_these_tables_is_not_held() {
        LockId held = take("kim", MINUTE);
        locks.manager().releaseLock(held);
        database.execute("DELETE FROM bitjang_locks WHERE id = '" + name("42") + "'");

        assertThatExceptionOfType(NoLockException.class)
                .isThrownBy(() -> locks.manager().checkLock(held));
    }

    @Test
    void releasing_a_lapsed_lock_that_nobody_took_succeeds() {
        LockId held = lapsed();

        assertThatNoException().isThrownBy(() -> other.manager().releaseLock(held));

        assertThat(locks.admin().find(order())).hasValueSatisfying(data -> {
            assertThat(data.held()).isFalse();
            assertThat(data.isExpired()).isFalse();
        });
    }

    @Test
    void a_slow_holder_cannot_touch_its_successors_lock() {
        LockId late = lapsed();
        LockId held = other.manager().tryLock("order", name("42"), "lee", MINUTE);
        LockData before = other.manager().checkLock(held);

        for (Runnable attempt : List.<Runnable>of(
                () -> locks.manager().releaseLock(late),
                () -> locks.manager().extendLockExpiration(late, MINUTE),
                () -> locks.manager().renew(late, Duration.ofHours(1)),
                () -> locks.manager().leave(late, Duration.ofMillis(1)))) {
            assertThatExceptionOfType(NoLockException.class)
                    .isThrownBy(attempt::run)
                    .withMessageContaining("taken by lee");
        }

        assertThat(held.fence()).isGreaterThan(late.fence());
        assertThat(other.manager().checkLock(held))
                .usingRecursiveComparison()
                .ignoringFields("remaining")
                .isEqualTo(before);
    }

    @Test
    void extending_adds_to_the_present_expiry() {
        LockId held = take("kim", MINUTE);
        Instant before = expiry(held);

        Instant once = other.manager().extendLockExpiration(held, Duration.ofMillis(1500));
        Instant twice = locks.manager().extendLockExpiration(held, MINUTE);

        assertThat(once).isEqualTo(before.plusMillis(1500));
        assertThat(twice).isEqualTo(once.plus(MINUTE)).isEqualTo(expiry(held));
    }

    @Test
    void extending_ends_ten_years_from_now() {
        LockId held = take("kim", Duration.ofDays(3652));

        locks.manager().extendLockExpiration(held, Duration.ofDays(3652));

        assertThat(locks.manager().checkLock(held).remaining()).isLessThan(Duration.ofDays(3654));
    }

    @Test
    void renewing_counts_from_now_and_never_shortens() {
        LockId held = take("kim", MINUTE);
        LockData before = locks.manager().checkLock(held);

        assertThat(locks.manager().renew(held, Duration.ofSeconds(1))).isEqualTo(before.expiresAt());

        Instant renewed = other.manager().renew(held, Duration.ofMinutes(3));
        LockData after = locks.manager().checkLock(held);
        assertThat(after.expiresAt()).isEqualTo(renewed).isAfter(before.expiresAt());
        assertThat(after.remaining()).isBetween(Duration.ofMinutes(2), Duration.ofMinutes(3));
        assertThat(after.fence()).isEqualTo(before.fence());
        assertThat(after.acquiredAt()).isEqualTo(before.acquiredAt());
    }

    @Test
    void leaving_shortens_and_never_prolongs() {
        LockId held = take("kim", MINUTE);
        Instant before = expiry(held);

        assertThat(locks.manager().leave(held, Duration.ofHours(1))).isEqualTo(before);

        Instant left = other.manager().leave(held, Duration.ofSeconds(20));
        LockData after = locks.manager().checkLock(held);
        assertThat(after.expiresAt()).isEqualTo(left).isBefore(before);
        assertThat(after.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(20));
    }

    @Test
    void a_lock_that_was_left_can_be_taken_soon_unless_its_holder_comes_back() {
        LockId held = take("kim", MINUTE);
        locks.manager().leave(held, Duration.ofSeconds(20));
        locks.manager().renew(held, MINUTE);
        assertThat(locks.manager().checkLock(held).remaining()).isGreaterThan(Duration.ofSeconds(20));

        locks.manager().leave(held, Duration.ofMillis(1));
        Soon.holds(
                "it is free", () -> !locks.admin().find(order()).orElseThrow().held());

        assertThatNoException().isThrownBy(() -> take("lee", MINUTE));
    }

    @Test
    void nothing_brings_a_lapsed_lock_back() {
        LockId held = lapsed();

        for (Runnable attempt : List.<Runnable>of(
                () -> locks.manager().extendLockExpiration(held, MINUTE),
                () -> locks.manager().renew(held, MINUTE),
                () -> locks.manager().leave(held, MINUTE))) {
            assertThatExceptionOfType(NoLockException.class)
                    .isThrownBy(attempt::run)
                    .withMessageContaining("expired");
        }
        assertThatNoException().isThrownBy(() -> take("lee", MINUTE));
    }

    @Test
    void nothing_brings_a_released_lock_back() {
        LockId held = take("kim", MINUTE);
        locks.manager().releaseLock(held);

        for (Runnable attempt : List.<Runnable>of(
                () -> locks.manager().extendLockExpiration(held, MINUTE),
                () -> locks.manager().renew(held, MINUTE),
                () -> locks.manager().leave(held, MINUTE))) {
            assertThatExceptionOfType(NoLockException.class)
                    .isThrownBy(attempt::run)
                    .withMessageContaining("released");
        }
        assertThatNoException().isThrownBy(() -> take("lee", MINUTE));
    }

    private LockName order() {
        return LockName.of("order", name("42"));
    }

    private LockId take(String owner, Duration duration) {
        return locks.manager().tryLock("order", name("42"), owner, duration);
    }

    private LockId lapsed() {
        LockId held = take("kim", MOMENT);
        Soon.holds("it lapsed", () -> locks.admin().find(order()).orElseThrow().isExpired());
        return held;
    }

    private Instant expiry(LockId held) {
        return Objects.requireNonNull(locks.manager().checkLock(held).expiresAt());
    }

    private static Duration lengthOf(LockData data) {
        assertThat(data.acquiredAt()).isNotNull();
        assertThat(data.expiresAt()).isNotNull();
        return Duration.between(data.acquiredAt(), data.expiresAt());
    }
}
